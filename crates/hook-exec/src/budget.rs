//! How long a hook may run.

use std::time::Duration;

use hook_core::{Hook, Profile};

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
        asking: Asking { max_tokens: 1, instructions: None },
        http: hook_core::HttpRules::NATIVE,
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
