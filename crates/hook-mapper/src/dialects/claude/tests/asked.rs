//! Verdicts of prompt and agent hooks, event by event.

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, FailMode, FailureKind, Handler, Level, OnFailure, Status,
};
use serde_json::json;

use super::{Bench, Claude, all_33, fired, of};

const NO: &str = r#"{"ok": false, "reason": "why"}"#;

/// What a verdict that is not ok does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Holds back; the reason goes to this reader, and the turn goes on.
    Denies(Audience),
    /// Holds back, and the turn ends.
    DeniesAndEnds(Audience),
    /// Nothing is held back, the model reads the reason.
    Tells,
    /// Nothing is held back, and the turn ends.
    Ends,
    Nothing,
}

fn does(answer: &Answer) -> Does {
    let told = answer.effects == [Effect::Feedback { text: "why".into(), to: Audience::Model }];
    assert_eq!(answer.stop_reason.as_deref(), answer.stop.then_some("why"));
    match (answer.decision, answer.stop) {
        (Decision::Deny, stop) => {
            assert_eq!(answer.reason.as_deref(), Some("why"));
            if stop { Does::DeniesAndEnds(answer.reason_to) } else { Does::Denies(answer.reason_to) }
        }
        (Decision::None, true) => Does::Ends,
        (Decision::None, false) if told => Does::Tells,
        (Decision::None, false) => {
            assert_eq!(*answer, Answer::default());
            Does::Nothing
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_verdict_that_is_not_ok_on_all_33_events() {
    use Audience::{Model, User};
    use Does::*;
    // Event, then what a prompt does, a prompt with `continueOnBlock`, and an agent.
    let rows = [
        ("SessionStart", Nothing, Nothing, Nothing),
        ("Setup", Nothing, Nothing, Nothing),
        ("InstructionsLoaded", Nothing, Nothing, Nothing),
        ("UserPromptSubmit", DeniesAndEnds(User), DeniesAndEnds(User), DeniesAndEnds(User)),
        ("UserPromptExpansion", DeniesAndEnds(User), DeniesAndEnds(User), DeniesAndEnds(User)),
        ("MessageDisplay", Nothing, Nothing, Nothing),
        ("PreToolUse", DeniesAndEnds(User), Denies(Model), Denies(Model)),
        ("PermissionRequest", Nothing, Nothing, Nothing),
        ("PermissionDenied", Nothing, Nothing, Nothing),
        ("PostToolUse", Ends, Tells, Tells),
        ("PostToolUseFailure", Tells, Tells, Tells),
        ("PostToolBatch", DeniesAndEnds(User), DeniesAndEnds(User), DeniesAndEnds(User)),
        ("Notification", Nothing, Nothing, Nothing),
        ("SubagentStart", Nothing, Nothing, Nothing),
        ("SubagentStop", Denies(Model), Denies(Model), Denies(Model)),
        ("TaskCreated", Denies(Model), Denies(Model), Denies(Model)),
        ("TaskCompleted", Denies(Model), Denies(Model), Denies(Model)),
        ("Stop", Denies(Model), Denies(Model), Denies(Model)),
        ("StopFailure", Nothing, Nothing, Nothing),
        ("TeammateIdle", Ends, Denies(Model), Denies(Model)),
        ("ConfigChange", Nothing, Nothing, Nothing),
        ("CwdChanged", Nothing, Nothing, Nothing),
        ("DirectoryAdded", Nothing, Nothing, Nothing),
        ("FileChanged", Nothing, Nothing, Nothing),
        ("WorktreeCreate", Nothing, Nothing, Nothing),
        ("WorktreeRemove", Nothing, Nothing, Nothing),
        ("PreCompact", Nothing, Nothing, Nothing),
        ("PostCompact", Nothing, Nothing, Nothing),
        ("PreModelSwitch", Nothing, Nothing, Nothing),
        ("PostModelSwitch", Nothing, Nothing, Nothing),
        ("SessionEnd", Nothing, Nothing, Nothing),
        ("Elicitation", Nothing, Nothing, Nothing),
        ("ElicitationResult", Nothing, Nothing, Nothing),
    ];
    all_33(rows.iter().map(|row| row.0));
    for (name, prompt, patient, agent) in rows {
        let event = of(EventKind::from_name(name));
        for (bench, expected) in [
            (Bench::new(&Claude).asking(Handler::Prompt, false), prompt),
            (Bench::new(&Claude).asking(Handler::Prompt, true), patient),
            (Bench::new(&Claude).asking(Handler::Agent, false), agent),
        ] {
            let said = bench.reply(&event, NO);
            assert_eq!(does(&said.answer), expected, "{name}");
            let status = if expected == Nothing { Status::Ignored } else { Status::Ok };
            assert_eq!(said.status, status, "{name}");
            let fine = bench.reply(&event, r#"{"ok": true, "reason": "why"}"#);
            assert_eq!((fine.status, fine.answer), (Status::Ok, Answer::default()), "{name}");
        }
    }
}

#[test]
fn an_impossible_wish_lets_a_prompt_stop_and_an_agent_go_on() {
    let said = r#"{"ok": false, "reason": "why", "impossible": true}"#;
    for kind in [EventKind::Stop, EventKind::SubagentStop] {
        let event = of(kind);
        let prompt = Bench::new(&Claude).asking(Handler::Prompt, true).reply(&event, said).answer;
        assert_eq!(
            prompt,
            Answer::default().with(Effect::Message { text: "why".into(), level: Level::Info })
        );
        let agent = Bench::new(&Claude).asking(Handler::Agent, false).reply(&event, said).answer;
        assert_eq!(agent.decision, Decision::Deny);
    }
    let call = Bench::new(&Claude).asking(Handler::Prompt, true).reply(&of(EventKind::PreToolUse), said);
    assert_eq!(call.answer.decision, Decision::Deny);
}

#[test]
fn a_task_of_a_teammate_stops_the_teammate() {
    let event = fired(json!({"hook_event_name": "TaskCompleted", "task_id": "1", "teammate_name": "kim"}));
    let says = |patient| does(&Bench::new(&Claude).asking(Handler::Prompt, patient).reply(&event, NO).answer);
    assert_eq!(says(false), Does::DeniesAndEnds(Audience::Model));
    assert_eq!(says(true), Does::Denies(Audience::Model));
}

#[test]
fn a_reply_that_is_no_verdict_is_a_hook_error_and_on_failure_does_not_count_there() {
    for handler in [Handler::Prompt, Handler::Agent] {
        let mut bench = Bench::new(&Claude).asking(handler, false);
        for mode in [None, Some(OnFailure::Block)] {
            bench.hook.on_failure = FailMode { default: mode, by_kind: Vec::new() };
            for kind in [EventKind::PreToolUse, EventKind::Stop, EventKind::UserPromptSubmit] {
                for reply in ["No.", "{}", r#"{"ok": "perhaps"}"#, r#"{"decision": "block"}"#] {
                    let said = bench.reply(&of(kind.clone()), reply);
                    assert_eq!(
                        (said.status, said.failure),
                        (Status::Error, Some(FailureKind::Parse)),
                        "{reply}"
                    );
                    assert_eq!((said.answer.decision, said.answer.stop), (Decision::None, false), "{reply}");
                    assert!(said.answer.messages().next().unwrap().0.contains("no verdict"), "{reply}");
                    assert!(
                        said.notes.iter().any(|note| note.text.contains(reply.trim_matches('.')))
                            || reply.contains('"')
                    );
                }
                let late = bench.fail(&of(kind.clone()), FailureKind::Timeout);
                assert_eq!((late.status, late.answer.decision), (Status::Timeout, Decision::None));
            }
        }
    }
}

#[test]
fn a_verdict_without_a_reason_has_the_stock_one() {
    let bench = Bench::new(&Claude).asking(Handler::Prompt, false);
    for reply in [r#"{"ok": false}"#, r#"{"ok": false, "reason": " "}"#] {
        let said = bench.reply(&of(EventKind::Stop), reply).answer;
        assert_eq!(said.reason.as_deref(), Some("Blocked by hook"));
    }
}

#[test]
fn the_input_takes_the_place_of_the_word() {
    let bench = Bench::new(&Claude);
    let text = r#"{"hook_event_name": "Stop",  "session_id": "$ARGUMENTS"}"#;
    let event = super::read(&Claude, serde_json::from_str(text).unwrap(), None).unwrap().events.remove(0);
    let input = event.raw.text.trim();
    assert_eq!(bench.prompt(&event, "Fine? $ARGUMENTS"), format!("Fine? {input}"));
    assert_eq!(bench.prompt(&event, "Fine?"), format!("Fine?\n\n{input}"));
    assert_eq!(bench.prompt(&event, r"Fine for \$5?"), format!("Fine for $5?\n\n{input}"));
}
