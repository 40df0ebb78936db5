//! Other hook files while the engine runs ("Hook Configuration Guide, Hot reload").
//!
//! A reload reads everything aside, and what it has read takes the place of what is in force in one step, or nothing does: an event
//! that runs keeps the hooks it began with, hooks in code and of skills stay, and a file that cannot be used leaves the old hooks in
//! force. Either way the event ConfigReload is fired.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hook_config::Loaded;
use hook_core::{Diagnostic, DialectId, EventHint, Files, Hook, HookId, Outcome, Payload};
use hook_registry::watch::{Recorder, Timing, Watch};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::engine::Engine;

/// Says of the hooks that would come into force whether they may.
pub(crate) type Check = dyn Fn(&[Arc<Hook>]) -> Result<(), String> + Send + Sync;

/// What came of a reload.
#[derive(Debug, Clone)]
pub struct Reload {
    /// Which one it was, from 1; failed ones count.
    pub number: u64,
    /// Why nothing changed; `None` where the new hooks are in force.
    pub failure: Option<String>,
    /// The file whose change led to it.
    pub source: Option<PathBuf>,
    /// Hooks that were in force and are not any more.
    pub vanished: Vec<HookId>,
    /// Envelopes of these that were cancelled.
    pub cancelled: u64,
    /// What was found in the files and in the set as a whole.
    pub diagnostics: Vec<Diagnostic>,
    /// What hooks of ConfigReload said.
    pub outcome: Outcome,
}

impl Engine {
    /// Puts what was loaded in force in place of the hooks of files. `source` is the file whose change led to it.
    ///
    /// It fails as a whole where a file as a whole cannot be used, where the host's check refuses, or where nothing can be made of the
    /// set. A bad entry costs itself alone, as when the engine is built.
    pub async fn reload(&self, loaded: &Loaded, source: Option<&Path>) -> Reload {
        self.finish_reload(self.begin_reload(loaded, source)).await
    }

    /// The first half of [`Engine::reload`], which waits for nobody: the hooks change, or stay.
    pub fn begin_reload(&self, loaded: &Loaded, source: Option<&Path>) -> Reload {
        let mut reload = Reload {
            number: self.count_reload(),
            failure: None,
            source: source.map(Path::to_owned),
            vanished: Vec::new(),
            cancelled: 0,
            diagnostics: loaded.diagnostics.clone(),
            outcome: Outcome::default(),
        };
        let before = self.generation();
        let replaced = match loaded.broken_file() {
            Some(broken) => Err(format!("a hook file cannot be used: {}", told(broken))),
            None => self.replace(&loaded.documents),
        };
        match replaced {
            Ok(found) => {
                reload.diagnostics.extend(found);
                let after = self.generation();
                let there = |id: &HookId| after.hooks().iter().any(|hook| hook.id == *id);
                let mut vanished: Vec<HookId> = before.hooks().iter().map(|hook| hook.id.clone()).collect();
                vanished.retain(|id| !there(id));
                reload.vanished = vanished;
            }
            Err(why) => reload.failure = Some(why),
        }
        reload
    }

    /// The second half: envelopes of hooks that are gone are cancelled, and hooks of ConfigReload hear of it.
    pub async fn finish_reload(&self, mut reload: Reload) -> Reload {
        for id in &reload.vanished {
            // What cannot be cancelled is dropped when its time comes: its hook is gone.
            reload.cancelled += self.cancel_own(id.as_str()).await.unwrap_or(0);
        }
        reload.outcome = self.tell_reload(&reload).await;
        reload
    }

    /// Fires ConfigReload ("Hook Configuration Guide, Events": its four fields).
    async fn tell_reload(&self, reload: &Reload) -> Outcome {
        let payload = json!({"event": "ConfigReload", "cwd": self.host().project.to_string_lossy(), "data": {
            "successful": reload.failure.is_none(),
            "failure_reason": reload.failure.as_deref().unwrap_or_default(),
            "reload_counter": reload.number,
            "config_source": reload.source.as_deref().map(Path::to_string_lossy).unwrap_or_default(),
        }});
        let native = self.dialects().get(DialectId::NATIVE);
        let incoming =
            native.and_then(|native| native.read(Payload::from_value(payload), &EventHint::default()).ok());
        match incoming {
            Some(incoming) => self.dispatch(&incoming).await,
            None => Outcome::default(),
        }
    }

    /// Loads and watches: `load` reads hook files through what it is given, now and whenever one of the files it asked for changes;
    /// the first time, too, what it gives takes the place of the documents the engine was built with, without an event. `listener`
    /// hears of every reload. A panic in either costs that one reload.
    ///
    /// It ends when the handle is dropped or stopped. For use inside a tokio runtime.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use hook_engine::config::{LoadRequest, StdFiles, load};
    /// use hook_engine::core::HostContext;
    /// use hook_engine::mapper::Dialects;
    /// use hook_engine::registry::watch::Timing;
    /// use hook_engine::Engine;
    ///
    /// # async fn host() {
    /// let host = HostContext::new("/work/project");
    /// let engine = Engine::builder(host.clone()).build();
    /// let load = move |files: &dyn hook_engine::core::Files| load(&LoadRequest::new(&host, files, &Dialects::standard()));
    /// let _watching = engine.watch(Arc::new(StdFiles), Timing::default(), load, |reload| {
    ///     eprintln!("reload {}: {:?}", reload.number, reload.failure);
    /// });
    /// # }
    /// ```
    pub fn watch(
        &self,
        files: Arc<dyn Files>,
        timing: Timing,
        load: impl Fn(&dyn Files) -> Loaded + Send + Sync + 'static,
        listener: impl Fn(&Reload) + Send + Sync + 'static,
    ) -> Watching {
        let engine = self.clone();
        let read = move |files: &dyn Files| {
            let recorder = Recorder::new(files);
            let loaded = catch_unwind(AssertUnwindSafe(|| load(&recorder)));
            (loaded.ok(), recorder.seen())
        };
        let (loaded, seen) = read(&*files);
        if let Some(loaded) = loaded.filter(|loaded| loaded.broken_file().is_none()) {
            let _ = engine.replace(&loaded.documents);
        }
        let mut watch = Watch::new(files.clone(), timing, seen);
        let task = tokio::spawn(async move {
            loop {
                let changed = watch.changed().await;
                let (loaded, seen) = read(&*files);
                // A load that did not come to its end has not asked for everything.
                if let Some(loaded) = loaded {
                    watch.follow(seen);
                    let reload = engine.reload(&loaded, changed.first().map(PathBuf::as_path)).await;
                    let _ = catch_unwind(AssertUnwindSafe(|| listener(&reload)));
                }
            }
        });
        Watching { task }
    }

    fn count_reload(&self) -> u64 {
        self.reloads().fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// `file:line:col: message`
fn told(finding: &Diagnostic) -> String {
    match (finding.location(), &finding.file) {
        (Some(place), _) => format!("{place}: {}", finding.message),
        (None, Some(file)) => format!("{}: {}", file.display(), finding.message),
        (None, None) => finding.message.clone(),
    }
}

/// Hook files are watched as long as this is kept.
#[derive(Debug)]
pub struct Watching {
    task: JoinHandle<()>,
}

impl Watching {
    /// Ends it; doing so twice is harmless.
    pub fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}
