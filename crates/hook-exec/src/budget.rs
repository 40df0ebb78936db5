//! How long a hook may run.

use std::time::Duration;

use hook_core::{Hook, Net, Profile};

/// The shortest budget a hook gets: a zero would be an answer before the question.
pub const MIN_TIMEOUT: Duration = Duration::from_millis(1);

/// The longest budget the engine itself grants, so that arithmetic on deadlines never overflows.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The hook's own timeout, else its dialect's default for the event and the handler, within the configured ceiling or the
/// dialect's own.
pub fn effective_timeout(hook: &Hook, profile: &Profile) -> Duration {
    let wanted =
        hook.limits.timeout.unwrap_or_else(|| (profile.default_timeout)(&hook.event, hook.handler.kind()));
    let ceiling = hook.limits.ceiling.or(profile.max_timeout).unwrap_or(MAX_TIMEOUT).min(MAX_TIMEOUT);
    wanted.min(ceiling).max(MIN_TIMEOUT)
}

/// The outer limit on a run whose handler wants so much time ("Hook Configuration Guide, timeout and the hook policy"): the
/// policy's, and where the handler wants as much or more, its own time and a grace beyond it. What it wants beyond `ceiling` does
/// not count.
pub fn net(wanted: Option<Duration>, net: Net, ceiling: Option<Duration>) -> Duration {
    let wanted = wanted.unwrap_or_default().min(ceiling.unwrap_or(MAX_TIMEOUT));
    if wanted < net.policy || wanted.is_zero() { net.policy } else { wanted + net.grace }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_core::{
        Asking, CommandHandler, DialectId, EventKind, Flavour, Handler, Limits, OnFailure, Shell,
    };

    const PROFILE: Profile = Profile {
        id: DialectId("test"),
        title: "Test",
        aliases: &[],
        flavour: Flavour::Native,
        runs_own_files: false,
        runs_in_project: true,
        events: &[],
        tools: &[],
        on_failure: OnFailure::Continue,
        once: hook_core::OnceRule::Succeeded,
        stop_cap: hook_core::StopCap { times: 0, variable: None },
        text_cap: None,
        protected_variables: &[],
        markers: &[],
        placeholders: &[],
        own_variables: &[],
        default_timeout: |_, _| Duration::from_secs(30),
        max_timeout: Some(Duration::from_secs(300)),
        net: None,
        asking: Asking { max_tokens: 1, instructions: None },
        http: hook_core::HttpRules::NATIVE,
        ask_default: None,
        arguments: hook_core::ArgumentRule::Native,
    };

    fn hook(timeout: Option<Duration>) -> Hook {
        let handler = CommandHandler { command: "true".into(), args: None, shell: Shell::Sh };
        Hook {
            limits: Limits { timeout, ceiling: None },
            ..Hook::new("h", DialectId("test"), EventKind::Stop, Handler::Command(handler))
        }
    }

    #[test]
    fn the_net_is_never_narrower_than_the_policy() {
        let rule = |policy| Net { policy: Duration::from_secs(policy), grace: Duration::from_secs(5) };
        let ceiling = Some(Duration::from_secs(600));
        for (wanted, policy, expected) in [
            (None, 30, 30),
            (Some(0), 30, 30),
            (Some(5), 30, 30),
            (Some(30), 30, 35),
            (Some(120), 30, 125),
            (Some(3600), 30, 605),
            (Some(5), 2, 10),
            (None, 900, 900),
        ] {
            let caught = net(wanted.map(Duration::from_secs), rule(policy), ceiling);
            assert_eq!(caught, Duration::from_secs(expected), "{wanted:?} {policy}");
        }
    }

    #[test]
    fn own_then_default_then_ceiling() {
        let table = [
            (None, 30_000),
            (Some(Duration::from_secs(5)), 5_000),
            (Some(Duration::from_secs(900)), 300_000),
            (Some(Duration::MAX), 300_000),
            (Some(Duration::ZERO), 1),
        ];
        for (own, expected) in table {
            let timeout = effective_timeout(&hook(own), &PROFILE);
            assert_eq!(timeout, Duration::from_millis(expected), "{own:?}");
        }
        let endless = Profile { max_timeout: None, ..PROFILE };
        assert_eq!(effective_timeout(&hook(Some(Duration::MAX)), &endless), MAX_TIMEOUT);
    }
}
