//! How answers are joined.
//!
//! [`join`] is a monoid over answers in *configured* order; completion order never enters. Its laws are property-tested:
//!
//! | part | rule | law |
//! |---|---|---|
//! | `decision` | the strongest: deny > defer > ask > allow > none | commutative, idempotent; deny absorbs |
//! | `reason`, `reason_to` | of the first answer that holds the strongest decision and gives a reason | first wins among equals |
//! | `updated_input`, `updated_output` | the last one given, or that of the hook that finished last ([`keep_last_rewrite`]) | last wins; a conflict is reported by [`conflicts`] |
//! | `stop` | any | commutative, idempotent; true absorbs |
//! | `stop_reason` | the first one given | first wins |
//! | `effects` | all, in order | free monoid |
//!
//! The neutral element is `Answer::default()`, and `join` is associative, so folding group by group, stage by stage or all
//! at once gives the same outcome.
//!
//! [`select`] is the other rule, for dialects in which one answer speaks for a whole group (Amplifier): the first deny in
//! configured order, else the first answer that [acts](Answer::acts), else all of them joined. [`join_reasons`] is `join` with
//! every reason of the strongest decision kept, [`merge`] the same with the first rewrite instead of the last.

use crate::answer::{Answer, Decision, Effect};
use crate::plan::FoldRule;

/// Joins two answers, `first` configured before `second`.
#[must_use]
pub fn join(first: Answer, second: Answer) -> Answer {
    let decision = first.decision.max(second.decision);
    let (reason, reason_to) = {
        let candidates = [(&first, first.decision), (&second, second.decision)];
        let holder = candidates.iter().find(|(answer, held)| *held == decision && answer.reason.is_some());
        match holder {
            Some((answer, _)) => (answer.reason.clone(), answer.reason_to),
            None if first.decision == decision => (None, first.reason_to),
            None => (None, second.reason_to),
        }
    };
    let mut effects = first.effects;
    effects.extend(second.effects);
    Answer {
        decision,
        reason,
        reason_to,
        updated_input: second.updated_input.or(first.updated_input),
        updated_output: second.updated_output.or(first.updated_output),
        stop: first.stop || second.stop,
        stop_reason: first.stop_reason.or(second.stop_reason),
        effects,
    }
}

/// Joins answers in configured order.
pub fn join_all(answers: impl IntoIterator<Item = Answer>) -> Answer {
    answers.into_iter().fold(Answer::default(), join)
}

/// One answer for a whole group: the first deny, else the first that acts, else all joined. The messages to the user of the
/// answers that do not act are kept.
pub fn select(answers: Vec<Answer>) -> Answer {
    let chosen = answers
        .iter()
        .position(|answer| answer.decision == Decision::Deny)
        .or_else(|| answers.iter().position(Answer::acts));
    let Some(chosen) = chosen else {
        return join_all(answers);
    };
    join_all(answers.into_iter().enumerate().map(|(index, answer)| {
        if index == chosen {
            return answer;
        }
        let messages = answer.effects.into_iter().filter(|effect| matches!(effect, Effect::Message { .. }));
        Answer { effects: messages.collect(), ..Answer::default() }
    }))
}

/// [`join_all`], and the reasons of all answers that hold the strongest decision stand in the reason, each once, joined by `; `
/// (AIMON: every refusal of a chain that runs to its end is told).
pub fn join_reasons(answers: Vec<Answer>) -> Answer {
    let strongest = answers.iter().map(|answer| answer.decision).max().unwrap_or_default();
    let mut reasons: Vec<&str> = Vec::new();
    for reason in
        answers.iter().filter(|answer| answer.decision == strongest).filter_map(|a| a.reason.as_deref())
    {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    let joined = join_all(answers);
    Answer { reason: reason.or(joined.reason), ..joined }
}

/// [`join_reasons`] with the first rewritten input and output instead of the last one (AIMON: results of hooks that ran at the
/// same time).
pub fn merge(answers: Vec<Answer>) -> Answer {
    let updated_input = answers.iter().find_map(|answer| answer.updated_input.clone());
    let updated_output = answers.iter().find_map(|answer| answer.updated_output.clone());
    Answer { updated_input, updated_output, ..join_reasons(answers) }
}

/// Joins the answers of one group by its rule.
pub fn fold(rule: FoldRule, answers: Vec<Answer>) -> Answer {
    match rule {
        FoldRule::Join | FoldRule::JoinAsFinished => join_all(answers),
        FoldRule::Select => select(answers),
        FoldRule::JoinReasons => join_reasons(answers),
        FoldRule::Merge => merge(answers),
    }
}

/// The index of the answer that decided: the first one that holds the strongest decision. `None` where nobody decided.
pub fn decider<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Option<usize> {
    let mut best: Option<(usize, Decision)> = None;
    for (index, answer) in answers.into_iter().enumerate() {
        let stronger = best.is_none_or(|(_, held)| answer.decision > held);
        if answer.decision != Decision::None && stronger {
            best = Some((index, answer.decision));
        }
    }
    best.map(|(index, _)| index)
}

/// Indexes of the answers whose rewritten input another one replaced, though it differs. The last answer wins, or with
/// `finished`, which holds the place of each one in the order of finishing, that of the hook which finished last.
pub fn conflicts(answers: &[Answer], finished: Option<&[usize]>) -> Vec<usize> {
    let has = |answer: &Answer| answer.updated_input.is_some();
    let Some(winner) = last(answers, finished, has) else { return Vec::new() };
    (0..answers.len())
        .filter(|&at| has(&answers[at]) && answers[at].updated_input != answers[winner].updated_input)
        .collect()
}

/// Takes the rewrites out of all answers but that of the hook which finished last.
pub fn keep_last_rewrite(answers: &mut [Answer], finished: &[usize]) {
    let input = last(answers, Some(finished), |answer| answer.updated_input.is_some());
    let output = last(answers, Some(finished), |answer| answer.updated_output.is_some());
    for (at, answer) in answers.iter_mut().enumerate() {
        if Some(at) != input {
            answer.updated_input = None;
        }
        if Some(at) != output {
            answer.updated_output = None;
        }
    }
}

/// The last of the answers that have something.
fn last(answers: &[Answer], finished: Option<&[usize]>, has: impl Fn(&Answer) -> bool) -> Option<usize> {
    let place = |at: usize| finished.and_then(|finished| finished.get(at)).copied().unwrap_or(at);
    (0..answers.len()).filter(|&at| has(&answers[at])).max_by_key(|&at| place(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Audience, Level};
    use proptest::prelude::*;
    use serde_json::json;

    fn any_answer() -> impl Strategy<Value = Answer> {
        let decision = prop::sample::select(vec![
            Decision::None,
            Decision::Allow,
            Decision::Ask,
            Decision::Defer,
            Decision::Deny,
        ]);
        let audience = prop::sample::select(vec![Audience::Model, Audience::User, Audience::Nobody]);
        let text = || prop::option::of("[a-c]{1,2}");
        let effects = prop::collection::vec(
            prop_oneof![
                "[a-z]{1,2}".prop_map(|text| Effect::Context { text }),
                "[a-z]{1,2}".prop_map(|text| Effect::Message { text, level: Level::Info }),
            ],
            0..3,
        );
        (decision, text(), audience, prop::option::of(0..3u8), any::<bool>(), text(), effects).prop_map(
            |(decision, reason, reason_to, input, stop, stop_reason, effects)| Answer {
                decision,
                reason,
                reason_to,
                updated_input: input.map(|n| json!({ "n": n })),
                updated_output: None,
                stop,
                stop_reason,
                effects,
            },
        )
    }

    fn same_but_audience(a: Answer, b: Answer) -> bool {
        // Without a reason nobody reads it, so its audience carries nothing.
        let level = |mut answer: Answer| {
            if answer.reason.is_none() {
                answer.reason_to = Audience::Model;
            }
            answer
        };
        level(a) == level(b)
    }

    proptest! {
        #[test]
        fn join_is_associative(a in any_answer(), b in any_answer(), c in any_answer()) {
            let left = join(join(a.clone(), b.clone()), c.clone());
            let right = join(a, join(b, c));
            prop_assert!(same_but_audience(left, right));
        }

        #[test]
        fn silence_is_neutral(a in any_answer()) {
            prop_assert!(same_but_audience(join(Answer::default(), a.clone()), a.clone()));
            prop_assert!(same_but_audience(join(a.clone(), Answer::default()), a));
        }

        #[test]
        fn a_block_is_never_lost(mut answers in prop::collection::vec(any_answer(), 1..6), at in 0usize..6) {
            let at = at % answers.len();
            answers[at].decision = Decision::Deny;
            prop_assert_eq!(join_all(answers.clone()).decision, Decision::Deny);
            prop_assert_eq!(select(answers.clone()).decision, Decision::Deny);
            prop_assert_eq!(join_reasons(answers.clone()).decision, Decision::Deny);
            answers.reverse();
            prop_assert_eq!(join_all(answers.clone()).decision, Decision::Deny);
            prop_assert_eq!(select(answers).decision, Decision::Deny);
        }

        #[test]
        fn the_decision_is_the_strongest(answers in prop::collection::vec(any_answer(), 0..6)) {
            let strongest = answers.iter().map(|a| a.decision).max().unwrap_or_default();
            let decided = decider(&answers).map_or(Decision::None, |index| answers[index].decision);
            prop_assert_eq!(decided, strongest);
            prop_assert_eq!(join_all(answers).decision, strongest);
        }

        #[test]
        fn every_context_is_kept_by_join(answers in prop::collection::vec(any_answer(), 0..6)) {
            let before: Vec<String> = answers.iter().flat_map(|a| a.contexts().map(String::from)).collect();
            let after: Vec<String> = join_all(answers).contexts().map(String::from).collect();
            prop_assert_eq!(before, after);
        }

        #[test]
        fn every_message_is_kept_by_select(answers in prop::collection::vec(any_answer(), 0..6)) {
            let count = |answers: &[Answer]| answers.iter().map(|a| a.messages().count()).sum::<usize>();
            let before = count(&answers);
            prop_assert_eq!(before, count(&[select(answers)]));
        }
    }

    #[test]
    fn parallel_injection_does_not_hide_a_deny() {
        let answers = vec![Answer::context("note"), Answer::deny("no")];
        let folded = select(answers);
        assert_eq!(folded.decision, Decision::Deny);
        assert_eq!(folded.contexts().count(), 0);
    }

    #[test]
    fn every_reason_of_the_strongest_decision_is_told_once() {
        let answers = vec![Answer::ask("really?"), Answer::deny("a"), Answer::deny("b"), Answer::deny("a")];
        let folded = join_reasons(answers);
        assert_eq!((folded.decision, folded.reason.as_deref()), (Decision::Deny, Some("a; b")));
        assert_eq!(join_reasons(vec![Answer::allow()]).reason, None);
    }

    #[test]
    fn of_two_rewrites_the_last_configured_wins_and_the_first_is_reported() {
        let answers = vec![Answer::rewrite(json!({"n": 1})), Answer::rewrite(json!({"n": 2}))];
        assert_eq!(conflicts(&answers, None), [0]);
        assert_eq!(join_all(answers.clone()).updated_input, Some(json!({"n": 2})));
        assert_eq!(merge(answers).updated_input, Some(json!({"n": 1})));
    }

    #[test]
    fn of_two_rewrites_that_of_the_hook_which_finished_last_wins_where_a_rule_says_so() {
        let rewrite = |n: u8| Answer { updated_output: Some(json!(n)), ..Answer::rewrite(json!({"n": n})) };
        let mut answers = vec![rewrite(1), rewrite(2), Answer::context("silent"), rewrite(1)];
        // The third one finished last, and rewrote nothing.
        let finished = [2, 1, 3, 0];
        assert_eq!(conflicts(&answers, Some(&finished)), [1]);
        keep_last_rewrite(&mut answers, &finished);
        let folded = join_all(answers);
        assert_eq!((folded.updated_input, folded.updated_output), (Some(json!({"n": 1})), Some(json!(1))));
        assert_eq!(folded.effects.len(), 1);
    }
}
