//! Hooks registered in code.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use hook_core::{
    Answer, Binding, Call, DialectId, Document, Event, EventKind, Executor, FailureKind, Flavour, Handler,
    HandlerFailure, HandlerKind, HandlerOutput, Hook, HookCx, Layer, MatcherSpec, Origin,
};
use serde_json::Map;

use crate::engine::Engine;

type Closure = Arc<dyn Fn(&Event) -> Answer + Send + Sync>;

/// One registered closure, as the registry sees it.
#[derive(Clone)]
pub(crate) struct CodeHook {
    pub(crate) key: usize,
    binding: Binding,
}

impl CodeHook {
    pub(crate) fn new(key: usize, event: EventKind, matcher: Option<&str>, name: &str) -> CodeHook {
        let matcher =
            MatcherSpec { text: matcher.map(String::from), flavour: Flavour::Native, location: None };
        let hook = Hook {
            matcher: matcher.clone(),
            origin: Origin::code(key),
            ..Hook::new(name, DialectId::NATIVE, event.clone(), Handler::Code { name: name.to_owned() })
        };
        let event_name = event.name().to_owned();
        let hooks = vec![Arc::new(hook)];
        CodeHook { key, binding: Binding { event, event_name, matcher, parallel: false, entry: key, hooks } }
    }
}

/// The document that stands for all hooks registered in code.
pub(crate) fn document(hooks: &[CodeHook]) -> Document {
    Document {
        dialect: DialectId::NATIVE,
        layer: Layer::Code,
        file: None,
        root: None,
        source: None,
        description: None,
        bindings: hooks.iter().map(|hook| hook.binding.clone()).collect(),
        switches: Map::new(),
    }
}

/// Runs the closures, found by the number in their hook's origin.
#[derive(Default)]
pub(crate) struct CodeExecutor {
    closures: Mutex<HashMap<usize, Closure>>,
}

impl CodeExecutor {
    pub(crate) fn insert(&self, key: usize, closure: Closure) {
        self.closures.lock().unwrap_or_else(PoisonError::into_inner).insert(key, closure);
    }

    pub(crate) fn remove(&self, key: usize) {
        self.closures.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

#[async_trait]
impl Executor for CodeExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Code
    }

    async fn run(&self, cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
        let key = cx.hook.origin.entry;
        let closure = self.closures.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let failure = |message: &str| {
            HandlerOutput::Failure(HandlerFailure {
                kind: FailureKind::Spawn,
                message: message.to_owned(),
                notes: Vec::new(),
            })
        };
        let Some(closure) = closure else {
            return failure("the closure was removed while the event ran");
        };
        // A closure of the host must not take the other hooks of the event with it.
        match catch_unwind(AssertUnwindSafe(|| closure(cx.event))) {
            Ok(answer) => HandlerOutput::Answer(answer),
            Err(_) => failure("the closure panicked"),
        }
    }
}

/// A handle on a hook registered in code. Dropping it leaves the hook in force.
#[derive(Clone)]
pub struct Registration {
    pub(crate) engine: Engine,
    pub(crate) key: usize,
}

impl Registration {
    /// Takes the hook out. An event that already runs keeps it.
    pub fn remove(self) {
        self.engine.unregister(self.key);
    }
}
