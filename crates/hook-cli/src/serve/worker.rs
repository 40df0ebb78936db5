//! The process that serves.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use hook_engine::core::SystemClock;
use hook_engine::mapper::Dialects;
use hook_engine::rewake::scheduler::Scheduler;
use hook_engine::rewake::store::{Filter, RewakeStore, SqliteStore};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Mutex, watch};
use tokio::time::{interval, timeout};

use super::metrics::Metrics;
use super::place::{self, Place};
use super::server::Server;
use super::warm::Warms;
use super::webhook::Deliveries;
use super::{http, socket};
use crate::args::ServeArgs;
use crate::error::CliError;
use crate::signals::Signals;
use crate::waking::{KEPT, QUOTA, Waking, Wiring};
use crate::world::World;
use crate::{exit, output, session};

/// What runs when the server is to end has so long.
const GRACE: Duration = Duration::from_secs(30);

/// The same for hooks that nobody waits for.
const BACKGROUND_GRACE: Duration = Duration::from_secs(5);

/// Between two looks for what nobody needs any more.
const SWEEP: Duration = Duration::from_secs(60);

/// Serves until somebody ends it.
pub(crate) fn work(args: &ServeArgs) -> Result<u8, CliError> {
    // Its hooks have no terminal.
    let _ = rustix::process::setsid();
    let world = World::of_process();
    let place = Place::of(&world).ok_or_else(super::nowhere)?;
    place.make()?;
    let lock = lock(&place)?;
    let secret = secret(args, &world)?;
    let umask = place::umask();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::internal(format!("cannot make a runtime: {error}")))?;
    let served = runtime.block_on(serve(args, world, &place, secret, umask));
    // What could not be ended in time is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(500));
    // Another one can start before those who waited for the end hear of it.
    drop(lock);
    served.map(|leaving| {
        drop(leaving);
        exit::OK
    })
}

/// Held as long as this process serves.
fn lock(place: &Place) -> Result<File, CliError> {
    let path = place.lock();
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    let file = file.map_err(|error| CliError::io(path.display(), error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CliError::refused("a server runs already")
            .help("`hook serve --status` shows it, `hook serve --stop` ends it")),
        Err(TryLockError::Error(error)) => Err(CliError::io(path.display(), error)),
    }
}

fn secret(args: &ServeArgs, world: &World) -> Result<Option<Vec<u8>>, CliError> {
    use std::os::unix::ffi::OsStrExt;
    let secret = match &args.secret_file {
        Some(path) => {
            let mut bytes = fs::read(path).map_err(|error| CliError::io(path.display(), error))?;
            while bytes.last().is_some_and(u8::is_ascii_whitespace) {
                bytes.pop();
            }
            if bytes.is_empty() {
                return Err(CliError::data(format!("{} is empty", path.display())));
            }
            Some(bytes)
        }
        None => {
            let set = world.environment.get(std::ffi::OsStr::new("HOOK_REWAKE_SECRET"));
            set.map(|secret| secret.as_bytes().to_vec())
        }
    };
    Ok(secret.filter(|secret| !secret.is_empty()))
}

/// The token of this user: made once, so that scripts go on working after a restart.
fn token(place: &Place) -> Result<String, CliError> {
    let path = place.token();
    if let Ok(token) = fs::read_to_string(&path)
        && token.trim().len() >= 32
    {
        return Ok(token.trim().to_owned());
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| CliError::internal(format!("no random bytes: {error}")))?;
    let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    place.write(&path, &format!("{token}\n"))?;
    Ok(token)
}

/// Gives those who wait for the end.
async fn serve(
    args: &ServeArgs,
    world: World,
    place: &Place,
    secret: Option<Vec<u8>>,
    umask: u32,
) -> Result<Vec<std::os::unix::net::UnixStream>, CliError> {
    let path = place.socket();
    // Who holds the lock is the only one; what stands there was left by one that was killed.
    let _ = fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(|error| CliError::io(path.display(), error))?;
    let web = match &args.http {
        None => None,
        Some(at) => {
            let listener =
                TcpListener::bind(at).await.map_err(|error| CliError::io(format!("--http {at}"), error))?;
            Some(listener)
        }
    };
    let state = world.state().ok_or_else(super::nowhere)?;
    let store = SqliteStore::new(state.join("rewakes.db"));
    let metrics = Arc::new(Metrics::new());
    let (stop, mut stopped) = watch::channel(false);
    let dialects = Dialects::standard();
    let counted = metrics.clone();
    let listener_of_reloads = move |key: &super::warm::Key, reload: &hook_engine::Reload| {
        counted.reloaded(reload);
        let source = reload.source.as_deref().unwrap_or(&key.project).display().to_string();
        let what = match &reload.failure {
            Some(why) => format!("{source} was changed and the old hooks stay in force: {why}"),
            None => format!("{source} was changed; the hooks of {} are read anew", key.project.display()),
        };
        output::words(&format!("hook serve: {what}\n"));
    };
    let scheduler = Scheduler::new(Arc::new(store.clone()), Arc::new(SystemClock)).quota(QUOTA);
    let now = scheduler.now();
    let server = Arc::new(Server {
        place: place.clone(),
        build: place::build(world.program.as_deref()),
        umask,
        sources: session::absolute(&args.sources),
        warms: Warms::new(dialects.clone(), Waking::on_store(store.clone()), listener_of_reloads),
        dialects,
        scheduler,
        store,
        metrics,
        started: SystemTime::now(),
        http: OnceLock::new(),
        token: token(place)?,
        secret,
        deliveries: Mutex::new(Deliveries::open(place.deliveries(), now)),
        stop,
        leaving: Mutex::default(),
        world,
    });
    let mut ready = format!("listening on {}\n", path.display());
    let mut sides = tokio::task::JoinSet::new();
    if let Some(web) = web {
        let at = web.local_addr().map_err(|error| CliError::io("--http", error))?;
        let _ = server.http.set(at);
        ready.push_str(&format!("and on http://{at}, token in {}\n", place.token().display()));
        let serving = axum::serve(web, http::router(server.clone())).with_graceful_shutdown(server.over());
        sides.spawn(async move {
            let _ = serving.await;
        });
    }
    sides.spawn(socket::listen(server.clone(), listener, GRACE));
    sides.spawn(wake(server.clone()));
    sides.spawn(sweep(server.clone()));
    ready.push_str("ready\n");
    // Somebody who started it in the background reads until here and goes.
    let _ = output::data(&ready);
    tokio::select! {
        ended = until_ended(args.worker) => ended?,
        _ = stopped.wait_for(|stop| *stop) => {}
    }
    server.stop.send_replace(true);
    let _ = fs::remove_file(&path);
    let over = async { while sides.join_next().await.is_some() {} };
    if timeout(GRACE + Duration::from_secs(1), over).await.is_err() {
        sides.abort_all();
    }
    server.warms.close(BACKGROUND_GRACE).await;
    server.say("ended");
    let leaving = std::mem::take(&mut *server.leaving.lock().await);
    Ok(leaving.into_iter().filter_map(|stream| stream.into_std().ok()).collect())
}

/// Until a signal comes, or the process that looks after this one is gone.
async fn until_ended(watched: bool) -> Result<(), CliError> {
    let mut signals = Signals::listen()?;
    let gone = async {
        if !watched {
            return std::future::pending().await;
        }
        let (told, gone) = tokio::sync::oneshot::channel();
        // A thread of its own, and none of the runtime's: it reads until the end of the process.
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            let _ = told.send(());
        });
        let _ = gone.await;
    };
    tokio::select! {
        () = signals.come() => {}
        () = gone => {}
    }
    Ok(())
}

/// Wakes hooks as their times come.
async fn wake(server: Arc<Server>) {
    let told = std::sync::Mutex::new(String::new());
    let trouble = |error: &hook_engine::rewake::store::StoreError| {
        let text = format!("no hook is woken: {error}");
        let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // It is tried again every second; once is enough to be told.
        if *told != text {
            server.say(&text);
            *told = text;
        }
    };
    server.scheduler.run(&*server, server.over(), trouble, |round| server.metrics.woken(round)).await;
}

async fn sweep(server: Arc<Server>) {
    let mut again = interval(SWEEP);
    let stop = server.over();
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            _ = again.tick() => {
                if let Ok(pending) = server.store.list(&Filter::default()).await {
                    let wirings: BTreeSet<_> = pending.into_iter().map(|one| one.snapshot.host.clone()).collect();
                    let read = wirings.iter().filter_map(|wiring| Wiring::read(wiring).ok());
                    server.warms.sweep(&read.collect::<Vec<_>>());
                }
                // It is tried again; what is kept too long harms nobody.
                let _ = server.store.forget(server.scheduler.now() - KEPT).await;
            }
            () = &mut stop => return,
        }
    }
}

/// An address on this machine.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let at: SocketAddr =
        text.parse().map_err(|_| "an address and a port, 127.0.0.1:7070 for instance".to_owned())?;
    if at.ip().is_loopback() {
        Ok(at)
    } else {
        Err("only addresses of this machine, 127.0.0.1 for instance: whoever reaches it runs hooks"
            .to_owned())
    }
}
