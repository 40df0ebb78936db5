//! A person's verb: fire an event by hand.

use hook_engine::core::{Decision, DialectId, Outcome, ReplyPolicy};

use crate::args::RunArgs;
use crate::error::CliError;
use crate::fire::{Fired, fire, hears};
use crate::{check, exit, json as json_form, output, report, session};

pub(crate) fn run(args: &RunArgs) -> Result<u8, CliError> {
    let Fired { agent, incoming, loaded, engine } = fire(&args.event)?;
    let profile = agent.profile();
    let Some(outcome) = session::dispatch(&engine, &incoming)? else {
        return Err(CliError::internal("ended by a signal; running hooks were ended too"));
    };
    let policy = loaded.settings.reply_policy(ReplyPolicy::default());
    let reply = engine.reply(profile.id, &incoming, &outcome, &policy);

    let findings: Vec<_> = loaded.diagnostics.iter().chain(engine.diagnostics()).cloned().collect();
    if args.json {
        let mut document = json_form::outcome(&incoming, &outcome, &findings);
        document["agent"] = profile.id.0.into();
        document["reply"] = json_form::reply(&reply);
        shown(output::data(&format!("{document:#}\n")))?;
    } else {
        check::print_errors(&findings, &loaded.sources);
        let listening = loaded.hooks().filter(|hook| hears(&incoming, &hook.event)).count();
        shown(output::data(&report::outcome(&incoming, &outcome, listening)))?;
        if profile.id != DialectId::NATIVE {
            shown(output::data(&report::reply(profile.title, &reply)))?;
        }
    }
    let wished = outcome.runs.iter().any(|run| run.ran() && run.hook.rewake.is_some());
    if wished && engine.scheduler().is_none() {
        output::words(
            "hook: with --session ID the wish to be woken again is kept; `hook rewake list` shows it\n",
        );
    }
    Ok(code(&outcome))
}

/// Somebody who stopped reading still gets the exit code.
fn shown(printed: Result<(), CliError>) -> Result<(), CliError> {
    match printed {
        Err(error) if error.is_broken_pipe() => Ok(()),
        other => other,
    }
}

fn code(outcome: &Outcome) -> u8 {
    match outcome.answer.decision {
        Decision::Deny => exit::BLOCKED,
        _ if outcome.answer.stop => exit::BLOCKED,
        Decision::Ask => exit::ASK,
        Decision::Defer => exit::DEFER,
        Decision::None | Decision::Allow => exit::OK,
    }
}

#[cfg(test)]
mod tests {
    use hook_engine::core::Answer;

    use super::*;

    #[test]
    fn every_decision_has_its_exit_code() {
        let stop = Answer { stop: true, ..Answer::default() };
        let defer = Answer { decision: Decision::Defer, ..Answer::default() };
        let table = [
            (Answer::default(), 0),
            (Answer::allow(), 0),
            (Answer::context("x"), 0),
            (Answer::deny("no"), 3),
            (stop, 3),
            (Answer::ask("really?"), 4),
            (defer, 5),
        ];
        for (answer, expected) in table {
            let outcome = Outcome { answer, ..Outcome::default() };
            assert_eq!(code(&outcome), expected, "{:?}", outcome.answer);
        }
    }
}
