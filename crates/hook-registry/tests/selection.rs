//! What is selected, in which order, and that the index never changes it.

use std::sync::Arc;

use hook_core::{
    Binding, CommandHandler, ConditionSpec, DialectId, Document, Event, EventKind, Flavour, Handler, Hook,
    HookCx, HostContext, Layer, MatcherSpec, Payload, SessionView, Shell,
};
use hook_matcher::Matcher;
use hook_registry::{Generation, Registry};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn hook(name: &str, event: EventKind, matcher: Option<&str>, priority: i64) -> Hook {
    let command = CommandHandler { command: name.into(), args: None, shell: Shell::Sh };
    Hook {
        matcher: MatcherSpec { text: matcher.map(String::from), flavour: Flavour::Claude, location: None },
        priority,
        ..Hook::new(name, DialectId::NATIVE, event, Handler::Command(command))
    }
}

fn document(layer: Layer, hooks: Vec<Hook>) -> Document {
    let bindings = hooks
        .into_iter()
        .enumerate()
        .map(|(entry, hook)| Binding {
            event: hook.event.clone(),
            event_name: hook.event_name.clone(),
            matcher: hook.matcher.clone(),
            parallel: false,
            entry,
            hooks: vec![Arc::new(hook)],
        })
        .collect();
    Document {
        dialect: DialectId::NATIVE,
        layer,
        file: None,
        root: None,
        source: None,
        description: None,
        bindings,
        switches: Map::new(),
    }
}

fn event(kind: EventKind, names: &[&str]) -> Event {
    let payload = Arc::new(Payload::from_value(Value::Null));
    let mut event = Event::new(kind, DialectId::NATIVE, "e", payload);
    event.match_names = names.iter().map(|name| (*name).to_owned()).collect();
    event
}

fn build(documents: &[Document]) -> Generation {
    Generation::build(1, documents, None, &|_| true).0
}

fn selected(generation: &Generation, event: &Event) -> Vec<String> {
    generation.select(event).iter().map(|candidate| candidate.hook.id.to_string()).collect()
}

const PRE: EventKind = EventKind::PreToolUse;

#[test]
fn layers_then_priority_then_the_order_of_the_file() {
    let generation = build(&[
        document(
            Layer::Project,
            vec![hook("p1", PRE, None, 0), hook("p2", PRE, None, -1), hook("p3", PRE, None, 0)],
        ),
        document(Layer::Managed, vec![hook("m", PRE, None, 99)]),
        document(Layer::User, vec![hook("u", PRE, None, 50)]),
    ]);
    assert_eq!(selected(&generation, &event(PRE, &["Bash"])), ["m", "u", "p2", "p1", "p3"]);
}

#[test]
fn every_layer_has_its_place_and_documents_keep_theirs() {
    let order = [
        Layer::Managed,
        Layer::Code,
        Layer::User,
        Layer::Project,
        Layer::Local,
        Layer::Pack,
        Layer::Skill,
        Layer::Agent,
    ];
    let of = |layer: Layer, n: usize| document(layer, vec![hook(&format!("{layer}{n}"), PRE, None, 0)]);
    let documents: Vec<Document> =
        order.iter().rev().flat_map(|layer| [of(*layer, 1), of(*layer, 2)]).collect();
    let expected: Vec<String> = order.iter().flat_map(|l| [format!("{l}1"), format!("{l}2")]).collect();
    assert_eq!(selected(&build(&documents), &event(PRE, &["Bash"])), expected);
}

#[test]
fn a_group_keeps_its_number_and_its_way_of_running() {
    let mut first = document(Layer::User, vec![hook("a", PRE, None, 0), hook("c", PRE, Some("Bash"), 0)]);
    first.bindings[0].parallel = true;
    first.bindings[0].hooks.push(Arc::new(hook("b", PRE, None, 0)));
    let second = document(Layer::Project, vec![hook("d", PRE, None, 0)]);
    let generation = build(&[first, second]);
    let candidates = generation.select(&event(PRE, &["Bash"]));
    let groups: Vec<usize> = candidates.iter().map(|candidate| candidate.group).collect();
    assert_eq!(selected(&generation, &event(PRE, &["Bash"])), ["a", "b", "c", "d"]);
    assert_eq!(groups[0], groups[1]);
    assert!(groups[1] != groups[2] && groups[2] != groups[3] && groups[0] != groups[3]);
    assert_eq!(candidates.iter().map(|c| c.parallel).collect::<Vec<_>>(), [true, true, false, false]);
}

#[test]
fn every_name_of_a_tool_counts_once() {
    let generation = build(&[document(
        Layer::User,
        vec![hook("both", PRE, Some("Edit|MultiEdit|Edit"), 0), hook("none", PRE, Some("Write"), 0)],
    )]);
    assert_eq!(selected(&generation, &event(PRE, &["MultiEdit", "Edit"])), ["both"]);
    assert!(selected(&generation, &event(PRE, &["edit"])).is_empty());
}

#[test]
fn an_event_without_a_subject_ignores_matchers() {
    let hooks =
        vec![hook("all", PRE, None, 0), hook("list", PRE, Some("Bash"), 0), hook("p", PRE, Some("^B"), 0)];
    let generation = build(&[document(Layer::User, hooks)]);
    assert_eq!(selected(&generation, &event(PRE, &[])), ["all", "list", "p"]);
}

#[test]
fn a_disabled_hook_is_listed_and_never_selected() {
    let off = Hook { enabled: false, ..hook("off", PRE, None, 0) };
    let generation = build(&[document(Layer::User, vec![off, hook("on", PRE, None, 0)])]);
    assert_eq!(generation.hooks().len(), 2);
    assert_eq!(selected(&generation, &event(PRE, &["Bash"])), ["on"]);
}

#[test]
fn only_the_wanted_events_are_compiled() {
    let hooks = vec![hook("a", PRE, Some("Bash"), 0), hook("b", EventKind::Stop, None, 0)];
    let documents = [document(Layer::User, hooks)];
    let (generation, _) = Generation::build(1, &documents, Some(&[EventKind::Stop]), &|_| true);
    assert!(selected(&generation, &event(PRE, &["Bash"])).is_empty());
    assert_eq!(selected(&generation, &event(EventKind::Stop, &[])), ["b"]);
    assert_eq!(generation.hooks().len(), 2);
}

#[test]
fn an_unreadable_matcher_counts_as_matching_on_a_guard_only() {
    let documents = [document(Layer::User, vec![hook("bad", PRE, Some("["), 0)])];
    for guard in [true, false] {
        let (generation, _) = Generation::build(1, &documents, None, &|_| guard);
        assert_eq!(generation.select(&event(PRE, &["Bash"])).len(), usize::from(guard));
        assert_eq!(generation.select(&event(PRE, &[])).len(), usize::from(guard));
    }
}

#[test]
fn an_unreadable_rule_counts_as_holding_on_a_guard_only() {
    let condition = Some(ConditionSpec { text: "Bash(git".into(), location: None });
    let hook = Hook { condition, ..hook("bad", PRE, Some("Bash"), 0) };
    let documents = [document(Layer::User, vec![hook])];
    for guard in [true, false] {
        let (generation, _) = Generation::build(1, &documents, None, &|_| guard);
        let event = event(PRE, &["Bash"]);
        let candidates = generation.select(&event);
        let (session, host) = (SessionView::default(), HostContext::new("/p"));
        let cx = HookCx { event: &event, hook: &candidates[0].hook, session: &session, host: &host };
        let verdict = candidates[0].condition.as_ref().map(|condition| condition.test(&cx));
        assert_eq!(verdict.map(|verdict| verdict.holds), Some(guard));
    }
}

#[test]
fn events_of_other_agents_select_by_their_own_name() {
    let kind = EventKind::from_name("gemini:BeforeModel");
    let generation = build(&[document(Layer::User, vec![hook("x", kind.clone(), None, 0)])]);
    assert_eq!(selected(&generation, &event(kind, &[])), ["x"]);
    assert!(selected(&generation, &event(EventKind::from_name("gemini:AfterModel"), &[])).is_empty());
}

#[test]
fn the_same_id_in_two_files_is_reported() {
    let in_file = |file: &str, layer| {
        let mut hook = hook("same", PRE, None, 0);
        hook.origin.file = Some(std::path::Path::new(file).into());
        document(layer, vec![hook])
    };
    let documents = [in_file("/a", Layer::User), in_file("/b", Layer::Project)];
    let (generation, diagnostics) = Generation::build(1, &documents, None, &|_| true);
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(generation.select(&event(PRE, &["Bash"])).len(), 2);
}

#[test]
fn a_running_event_keeps_its_generation_while_others_are_swapped_in() {
    let generation = |number| {
        let documents = [document(Layer::User, vec![hook(&format!("h{number}"), PRE, Some("Bash"), 0)])];
        Generation::build(number, &documents, None, &|_| true).0
    };
    let registry = Registry::new(generation(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..2000 {
                    let current = registry.current();
                    assert!(current.number() >= last, "numbers never go back");
                    last = current.number();
                    assert_eq!(selected(&current, &event(PRE, &["Bash"])), [format!("h{last}")]);
                }
            });
        }
        for number in 1..200 {
            registry.swap(generation(number));
        }
    });
    assert_eq!(registry.current().number(), 199);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_selects_what_a_scan_selects(
        matchers in prop::collection::vec(prop::option::of("[ABC|,.*^$\\[ ]{0,4}"), 0..12),
        subjects in prop::collection::vec(prop::collection::vec("[ABC]{0,2}", 0..3), 1..4),
        guard in any::<bool>(),
    ) {
        let hooks: Vec<Hook> =
            matchers.iter().enumerate().map(|(n, m)| hook(&n.to_string(), PRE, m.as_deref(), 0)).collect();
        let (generation, _) = Generation::build(1, &[document(Layer::User, hooks)], None, &|_| guard);
        for subject in subjects.iter().chain(&subjects) {
            let names: Vec<&str> = subject.iter().map(String::as_str).collect();
            let scan: Vec<String> = matchers.iter().enumerate().filter(|(_, text)| {
                let matcher = Matcher::compile(text.as_deref(), Flavour::Claude).matcher;
                if matcher.is_unreadable() { guard } else { matcher.matches(names.iter().copied()) }
            }).map(|(n, _)| n.to_string()).collect();
            let event = event(PRE, &names);
            prop_assert_eq!(&selected(&generation, &event), &scan);
            let flagged: Vec<String> =
                generation.matched(&event).filter(|(_, fits)| *fits).map(|(hook, _)| hook.id.to_string()).collect();
            prop_assert_eq!(flagged, scan);
            prop_assert_eq!(generation.matched(&event).count(), matchers.len());
        }
    }
}

#[test]
fn what_a_matcher_says_of_the_input_comes_with_its_candidate() {
    let native = |name: &str, matcher: &str| {
        let spec = MatcherSpec { text: Some(matcher.into()), flavour: Flavour::Native, location: None };
        Hook { matcher: spec, ..hook(name, PRE, None, 0) }
    };
    let generation = build(&[document(
        Layer::Project,
        vec![
            native("exact", "Bash(git *)"),
            native("any", "input.command~git"),
            native("glob", "Ba* & input.command~git"),
            native("names", "B* & *h"),
            native("other", "Edit(*.ts)"),
        ],
    )]);
    for _ in 0..2 {
        let candidates = generation.select(&event(PRE, &["Bash"]));
        let found: Vec<(&str, bool)> = candidates
            .iter()
            .map(|candidate| (candidate.hook.id.as_str(), candidate.predicate.is_some()))
            .collect();
        assert_eq!(found, [("exact", true), ("any", true), ("glob", true), ("names", false)]);
        assert_eq!(selected(&generation, &event(PRE, &["Edit"])), ["any", "other"]);
    }
}
