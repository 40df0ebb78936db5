//! What MCP servers tell of their own accord, as events that wake hooks ("Hook Configuration Guide, Async Rewake, MCP
//! notifications").

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use hook_core::{McpEvent, McpListener, Note};

use crate::engine::{Engine, Inner};

/// Events that are on their way at a time. A server that floods its client loses what is beyond.
const MOST: usize = 256;

/// Between the clients, which are made first, and the engine, which comes later and may go earlier.
#[derive(Clone, Default)]
pub(crate) struct Hearing(Arc<Shared>);

#[derive(Default)]
struct Shared {
    engine: OnceLock<Weak<Inner>>,
    on_their_way: AtomicUsize,
    lost: AtomicUsize,
}

impl Hearing {
    /// From now on this engine hears.
    pub(crate) fn of(&self, engine: &Arc<Inner>) {
        let _ = self.0.engine.set(Arc::downgrade(engine));
    }

    pub(crate) fn listener(&self) -> McpListener {
        let shared = self.0.clone();
        Arc::new(move |event| Shared::hear(&shared, event))
    }
}

impl Shared {
    fn hear(shared: &Arc<Shared>, event: McpEvent) {
        let engine = shared.engine.get().and_then(Weak::upgrade).map(Engine::from_inner);
        let Some(engine) = engine.filter(|engine| engine.scheduler().is_some()) else { return };
        if shared.on_their_way.fetch_add(1, Ordering::Relaxed) >= MOST {
            shared.on_their_way.fetch_sub(1, Ordering::Relaxed);
            shared.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let shared = shared.clone();
        tokio::spawn(async move {
            let lost = shared.lost.swap(0, Ordering::Relaxed);
            let server = &event.server;
            if lost > 0 {
                engine.notice(Note::warning(format!(
                    "the MCP server {server:?} told more than could be followed; {lost} of its notifications woke nobody"
                )));
            }
            let resolved = match engine.scheduler() {
                Some(scheduler) => scheduler.resolve(&event.kind, &event.key, &event.payload).await,
                None => Ok(0),
            };
            if let Err(error) = resolved {
                let (kind, key) = (&event.kind, &event.key);
                engine.notice(Note::warning(format!(
                    "the notification {kind} {key:?} of the MCP server {server:?} woke nobody: {error}"
                )));
            }
            shared.on_their_way.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use hook_core::{HostContext, Observer};
    use hook_rewake::store::MemoryStore;

    use super::*;

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Observer for Notes {
        fn noticed(&self, note: &Note) {
            self.0.lock().unwrap().push(note.text.clone());
        }
    }

    fn event() -> McpEvent {
        McpEvent { server: "s".into(), kind: "mcp.a".into(), key: "k".into(), payload: BTreeMap::new() }
    }

    #[tokio::test]
    async fn a_flood_of_notifications_is_bounded_and_told() {
        let notes = Arc::new(Notes::default());
        let builder = Engine::builder(HostContext::new("/"));
        let hearing = builder.hearing.clone();
        let engine = builder.rewake(Arc::new(MemoryStore::new())).observer(notes.clone()).build();
        let listener = hearing.listener();
        // No task runs before this one waits.
        for _ in 0..MOST + 44 {
            listener(event());
        }
        while hearing.0.on_their_way.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        let told = std::mem::take(&mut *notes.0.lock().unwrap());
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("44 of its notifications woke nobody"), "{told:?}");
        // There is room again, and a listener that outlives its engine hears nothing.
        listener(event());
        assert_eq!(hearing.0.on_their_way.load(Ordering::Relaxed), 1);
        while hearing.0.on_their_way.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        drop(engine);
        listener(event());
        assert_eq!(hearing.0.on_their_way.load(Ordering::Relaxed), 0);
        assert_eq!(*notes.0.lock().unwrap(), [""; 0]);
    }
}
