//! From documents to hooks in dispatch order.

use std::collections::HashMap;
use std::sync::Arc;

use hook_core::{Condition, DialectId, Document, EventKind, Flavour, Hook};
use hook_matcher::{CompiledIf, Matcher};

/// One hook with its compiled matcher.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) hook: Arc<Hook>,
    /// Its place among all hooks.
    pub(crate) place: usize,
    pub(crate) matcher: Arc<Matcher>,
    /// Unique per written group.
    pub(crate) group: usize,
    pub(crate) parallel: bool,
    /// Its `if`, compiled.
    pub(crate) condition: Option<Arc<dyn Condition>>,
    /// An unreadable matcher counts as matching.
    pub(crate) guard: bool,
}

impl Entry {
    /// The part of the matcher that is asked when the hook's turn comes.
    pub(crate) fn predicate(&self) -> Option<Arc<dyn Condition>> {
        let predicate = self.matcher.predicate()?.clone();
        Some(predicate)
    }
}

/// All hooks in dispatch order, and the enabled ones of the wanted events compiled.
pub(crate) fn flatten(
    documents: &[Document],
    only: Option<&[EventKind]>,
    guard: &dyn Fn(&Hook) -> bool,
) -> (Vec<Arc<Hook>>, Vec<Entry>) {
    struct Written<'a> {
        hook: &'a Arc<Hook>,
        group: usize,
        parallel: bool,
    }
    let mut written = Vec::new();
    let mut group = 0;
    for document in documents {
        for binding in &document.bindings {
            for hook in &binding.hooks {
                written.push((
                    (document.layer, hook.priority),
                    Written { hook, group, parallel: binding.parallel },
                ));
            }
            group += 1;
        }
    }
    written.sort_by_key(|(order, _)| *order);

    let mut compiled: HashMap<(&str, Flavour), Arc<Matcher>> = HashMap::new();
    let mut ifs: HashMap<(&str, bool), CompiledIf> = HashMap::new();
    let mut hooks = Vec::with_capacity(written.len());
    let mut entries = Vec::new();
    for (place, (_, Written { hook, group, parallel })) in written.into_iter().enumerate() {
        hooks.push(hook.clone());
        if !hook.enabled || only.is_some_and(|only| !only.contains(&hook.event)) {
            continue;
        }
        let text = hook.matcher.text.as_deref().unwrap_or_default();
        let matcher = compiled
            .entry((text, hook.matcher.flavour))
            .or_insert_with(|| Arc::new(Matcher::compile(Some(text), hook.matcher.flavour).matcher))
            .clone();
        let condition = hook.condition.as_ref().map(|written| {
            let native = hook.dialect == DialectId::NATIVE;
            let compiled = ifs
                .entry((&written.text, native))
                .or_insert_with(|| CompiledIf::compile(&written.text, native));
            compiled.condition(compiled.is_unreadable() && guard(hook))
        });
        let guard = matcher.is_unreadable() && guard(hook);
        entries.push(Entry { hook: hook.clone(), place, matcher, group, parallel, condition, guard });
    }
    (hooks, entries)
}
