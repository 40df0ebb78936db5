//! Watching what hook files were read from ("Hook Configuration Guide, Hot reload").
//!
//! A [`Recorder`] reads files for somebody and remembers what it gave: contents, listings, and what was not there. A [`Watch`] tells
//! when any of that would come out differently. The operating system's word is a hint that saves time; looking is the truth, so
//! that network file systems, replaced folders and lost hints cost a delay and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hook_core::{EntryKind, FileEntry, Files};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// Larger files are told apart by their head.
const MOST: u64 = 16 * 1024 * 1024;

/// What was asked of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Content,
    Listing,
    Kind,
}

/// What files looked like when they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(BTreeMap<(PathBuf, Asked), u64>);

/// Reads through another tree and remembers what it gave.
pub struct Recorder<'a> {
    files: &'a dyn Files,
    seen: Mutex<Seen>,
}

impl<'a> Recorder<'a> {
    /// A recorder that has seen nothing.
    pub fn new(files: &'a dyn Files) -> Recorder<'a> {
        Recorder { files, seen: Mutex::default() }
    }

    /// What it gave.
    pub fn seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, path: &Path, asked: Asked, print: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // What was given first is what the reader went by.
        seen.0.entry((path.to_owned(), asked)).or_insert(print);
    }
}

impl Files for Recorder<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let read = self.files.read(path, limit);
        self.note(path, Asked::Content, print(&read));
        read
    }

    fn list(&self, path: &Path) -> io::Result<Vec<FileEntry>> {
        let listed = self.files.list(path);
        self.note(path, Asked::Listing, listing(&listed));
        listed
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        let kind = self.files.kind(path);
        self.note(path, Asked::Kind, of_kind(&kind));
        kind
    }

    fn head(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.files.head(path, limit)
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        self.files.mode(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.canonical(path)
    }
}

fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn print(read: &io::Result<Vec<u8>>) -> u64 {
    hashed(&read.as_ref().map_err(io::Error::kind))
}

fn listing(listed: &io::Result<Vec<FileEntry>>) -> u64 {
    let names = listed.as_ref().map(|entries| {
        entries.iter().map(|entry| (&entry.name, entry.kind == EntryKind::Directory)).collect::<Vec<_>>()
    });
    hashed(&names.map_err(|error| error.kind()))
}

fn of_kind(kind: &io::Result<EntryKind>) -> u64 {
    hashed(&kind.as_ref().map(|kind| format!("{kind:?}")).map_err(io::Error::kind))
}

/// How long a watch waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Between two looks, where no hint comes.
    pub poll: Duration,
    /// Without a further change, until a change counts: somebody may still be writing.
    pub quiet: Duration,
    /// Until changes count, however many more there are.
    pub longest: Duration,
}

impl Default for Timing {
    /// A look every second; 100 ms of quiet, a second at most.
    fn default() -> Timing {
        Timing {
            poll: Duration::from_secs(1),
            quiet: Duration::from_millis(100),
            longest: Duration::from_secs(1),
        }
    }
}

/// Waits for changes of what was seen.
pub struct Watch {
    files: Arc<dyn Files>,
    timing: Timing,
    seen: Seen,
    hints: Arc<Notify>,
    /// `None` where the system gives no hints.
    system: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

impl Watch {
    /// A watch over what was seen.
    pub fn new(files: Arc<dyn Files>, timing: Timing, seen: Seen) -> Watch {
        let hints = Arc::new(Notify::new());
        let hint = hints.clone();
        let system = notify::recommended_watcher(move |_| hint.notify_one()).ok();
        let mut watch =
            Watch { files, timing, seen: Seen::default(), hints, system, folders: BTreeSet::new() };
        watch.follow(seen);
        watch
    }

    /// Watches over something else from now on.
    pub fn follow(&mut self, seen: Seen) {
        self.seen = seen;
        let Some(system) = &mut self.system else { return };
        let mut wanted = BTreeSet::new();
        for (path, asked) in self.seen.0.keys() {
            // A watch on a file would die with the next editor that replaces it. A folder that is not there yet appears in one
            // that is.
            let folder = if *asked == Asked::Listing { Some(path.as_path()) } else { path.parent() };
            let there = folder.into_iter().flat_map(Path::ancestors);
            let there = there
                .into_iter()
                .find(|path| self.files.kind(path).is_ok_and(|kind| kind == EntryKind::Directory));
            wanted.extend(there.map(Path::to_owned));
            // Where a link leads, changes are seen at that end.
            let target = self.files.canonical(path).ok();
            wanted.extend(target.as_deref().and_then(Path::parent).map(Path::to_owned));
        }
        for gone in self.folders.difference(&wanted) {
            let _ = system.unwatch(gone);
        }
        // One that was removed and made again has the same name, and is not watched any more.
        for folder in &wanted {
            if !self.folders.contains(folder) || !folder.exists() {
                let _ = system.watch(folder, RecursiveMode::NonRecursive);
            }
        }
        self.folders = wanted;
    }

    /// Waits until something looks different and has been quiet for a while. Gives the paths that do, in order.
    pub async fn changed(&mut self) -> Vec<PathBuf> {
        loop {
            tokio::select! {
                () = self.hints.notified() => {}
                () = sleep(self.timing.poll) => {}
            }
            let mut now = self.look();
            if now == self.seen {
                continue;
            }
            let began = Instant::now();
            while began.elapsed() < self.timing.longest {
                sleep(self.timing.quiet).await;
                let later = self.look();
                let quiet = later == now;
                now = later;
                if quiet {
                    break;
                }
            }
            let different: BTreeSet<PathBuf> = self
                .seen
                .0
                .iter()
                .filter(|(key, print)| now.0.get(key) != Some(print))
                .map(|((path, _), _)| path.clone())
                .collect();
            // It was written and written back.
            if different.is_empty() {
                continue;
            }
            self.seen = now;
            return different.into_iter().collect();
        }
    }

    /// The same questions once more.
    fn look(&self) -> Seen {
        let ask = |(path, asked): &(PathBuf, Asked)| match asked {
            Asked::Content => print(&self.files.read(path, MOST)),
            Asked::Listing => listing(&self.files.list(path)),
            Asked::Kind => of_kind(&self.files.kind(path)),
        };
        Seen(self.seen.0.keys().map(|key| (key.clone(), ask(key))).collect())
    }
}
