//! Asking a server, in a process that lives for one event: no runtime, and never a wait that somebody else decides on.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::place::{self, Place};
use super::wire::{self, Ask, Head};
use crate::answer::Spoken;
use crate::args::SourceArgs;
use crate::error::CliError;
use crate::world::World;

/// A server that has not taken a request by then is not there.
const TAKE: Duration = Duration::from_secs(1);

/// While hooks run it is heard of every second; one that says nothing for so long hangs.
const SILENCE: Duration = Duration::from_secs(5);

/// How long hooks may take to be ended.
const END: Duration = Duration::from_secs(3);

/// What came of asking.
pub(crate) enum Asked {
    /// Its answer.
    Answered(Answered),
    /// No server that would do this.
    Nobody,
    /// One that cannot be used, or was lost on the way; why.
    Lost(String),
    /// A signal came, and the server has ended the hooks.
    Ended,
}

/// An answer that has not been given to the agent.
pub(crate) struct Answered {
    spoken: Spoken,
    server: UnixStream,
}

impl Answered {
    /// Gives it to the agent, and tells the server so: what it told on behalf of earlier hooks need not be told again.
    pub(crate) fn say(mut self) -> Result<u8, CliError> {
        let said = self.spoken.say()?;
        if said.heard {
            let _ = self.server.write_all(&[wire::DELIVERED]);
        }
        Ok(said.code)
    }
}

/// Has a server answer this payload, where one runs.
pub(crate) fn ask(
    world: &World,
    agent: Option<&str>,
    event: Option<&str>,
    sources: &SourceArgs,
    payload: &str,
) -> Asked {
    let Some(place) = Place::of(world) else { return Asked::Nobody };
    let mut server = match reach(&place) {
        Ok(Some(server)) => server,
        Ok(None) => return Asked::Nobody,
        Err(why) => return Asked::Lost(format!("the server is not asked: {why}")),
    };
    let mut head = Head::new(Ask::Dispatch, place::build(world.program.as_deref()), place::umask());
    head.agent = agent.map(str::to_owned);
    head.event = event.map(str::to_owned);
    head.sources = sources.clone();
    let request = wire::request(head, world, payload);
    // Where signals cannot be heard the server would be asked for nothing when one comes.
    let Ok(signals) = signals() else { return Asked::Nobody };
    if server.write_all(&request).is_err() {
        return Asked::Nobody;
    }
    converse(server, &signals)
}

/// Asks for something that is no event, and gives the body of the answer; `None` where no server runs.
pub(crate) fn question(world: &World, ask: Ask) -> Result<Option<(Vec<u8>, UnixStream)>, CliError> {
    let Some(place) = Place::of(world) else { return Ok(None) };
    let Some(mut server) = reach(&place).map_err(CliError::usage)? else { return Ok(None) };
    let head = Head::new(ask, place::build(world.program.as_deref()), 0);
    let nobody = World { environment: Default::default(), here: None, program: None };
    let lost = |error| CliError::io(place.socket().display(), error);
    server.write_all(&wire::request(head, &nobody, "")).map_err(lost)?;
    server.set_read_timeout(Some(SILENCE)).map_err(lost)?;
    let mut come = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Ok(Some(wire::Frame { kind: wire::ANSWER, body, .. })) = wire::frame(&come) {
            let body = body.to_vec();
            server.set_read_timeout(None).map_err(lost)?;
            return Ok(Some((body, server)));
        }
        match server.read(&mut piece).map_err(lost)? {
            0 => return Err(CliError::data(format!("{} is no server of hooks", place.socket().display()))),
            read => come.extend_from_slice(&piece[..read]),
        }
    }
}

/// A connection to the server; `None` where none runs. An error says why one that is there is not to be trusted.
fn reach(place: &Place) -> Result<Option<UnixStream>, String> {
    if !place.is_ours()? {
        return Ok(None);
    }
    let Some(server) = connected(&place.socket()) else { return Ok(None) };
    is_own(&server).map_err(|why| format!("{} {why}", place.socket().display()))?;
    Ok(Some(server))
}

/// Connects without waiting: a server that is stopped, with a queue that is full, would hold this process for ever.
fn connected(path: &Path) -> Option<UnixStream> {
    let address = SocketAddrUnix::new(path).ok()?;
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).ok()?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).ok()?;
    rustix::io::ioctl_fionbio(&socket, true).ok()?;
    connect(&socket, &address).ok()?;
    rustix::io::ioctl_fionbio(&socket, false).ok()?;
    let server = UnixStream::from(socket);
    server.set_write_timeout(Some(TAKE)).ok()?;
    Some(server)
}

/// Says why the process at the other end is not to be trusted.
#[cfg(target_os = "linux")]
fn is_own(server: &UnixStream) -> Result<(), &'static str> {
    let peer = rustix::net::sockopt::socket_peercred(server).map_err(|_| "does not say whose it is")?;
    let own = peer.uid == rustix::process::geteuid();
    if own { Ok(()) } else { Err("is served by somebody else") }
}

/// Elsewhere the directory alone tells whose it is.
#[cfg(not(target_os = "linux"))]
fn is_own(_: &UnixStream) -> Result<(), &'static str> {
    Ok(())
}

/// Readable as soon as a signal has come that would end this process.
fn signals() -> std::io::Result<UnixStream> {
    let (heard, told) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, told.try_clone()?)?;
    }
    Ok(heard)
}

/// Hears the server out.
fn converse(mut server: UnixStream, signals: &UnixStream) -> Asked {
    let lost =
        |what: &str| Asked::Lost(format!("the server {what}; the hooks are run here, once more perhaps"));
    let mut come = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    let (mut taken, mut cancelled) = (false, false);
    let mut until = Instant::now() + TAKE;
    loop {
        loop {
            let wire::Frame { kind, body, long } = match wire::frame(&come) {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(wire::NoFrame) => return lost("says something that nobody understands"),
            };
            match kind {
                // Nothing has run.
                wire::DECLINED => return Asked::Nobody,
                wire::ENDED if cancelled => return Asked::Ended,
                // The signal came too late to change anything.
                wire::ANSWER => {
                    return match serde_json::from_slice(body) {
                        Ok(spoken) => Asked::Answered(Answered { spoken, server }),
                        Err(_) => lost("gave an answer that nobody understands"),
                    };
                }
                _ => taken = true,
            }
            come.drain(..long);
            if !cancelled {
                until = Instant::now() + SILENCE;
            }
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return match (cancelled, taken) {
                (true, _) => Asked::Ended,
                (_, true) => lost("has said nothing for a while"),
                (_, false) => lost("did not take the event"),
            };
        }
        let signalled = match wait(&server, (!cancelled).then_some(signals), left) {
            Ok(signalled) => signalled,
            Err(_) => return lost("cannot be heard"),
        };
        match signalled {
            Ready::Signal => {
                cancelled = true;
                until = Instant::now() + END;
                if server.write_all(&[wire::CANCEL]).is_err() {
                    return Asked::Ended;
                }
            }
            Ready::Server => match server.read(&mut piece) {
                Ok(0) | Err(_) if cancelled => return Asked::Ended,
                Ok(0) | Err(_) if !taken => return lost("went away"),
                Ok(0) | Err(_) => return lost("went away while hooks ran"),
                Ok(read) => come.extend_from_slice(&piece[..read]),
            },
            Ready::Nothing => {}
        }
    }
}

enum Ready {
    Server,
    Signal,
    Nothing,
}

fn wait(server: &UnixStream, signals: Option<&UnixStream>, most: Duration) -> Result<Ready, Errno> {
    let mut fds = vec![PollFd::new(server, PollFlags::IN)];
    fds.extend(signals.map(|signals| PollFd::new(signals, PollFlags::IN)));
    let most = Timespec::try_from(most).map_err(|_| Errno::INVAL)?;
    match poll(&mut fds, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error),
    }
    let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
    Ok(match (ready(1), ready(0)) {
        (true, _) => Ready::Signal,
        (false, true) => Ready::Server,
        (false, false) => Ready::Nothing,
    })
}
