//! The side of a server that processes of its user ask: `hook dispatch`, and `hook serve --status` and `--stop`.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::peer;
use super::server::{Question, Server};
use super::wire::{self, Ask, Request};

/// A request is a few writes of a process that has nothing else to do.
const ASKING: Duration = Duration::from_secs(10);

/// How long the one that asked may take to give the answer to its agent.
const DELIVERING: Duration = Duration::from_secs(30);

/// Between two signs of life while hooks run.
const PULSE: Duration = Duration::from_secs(1);

/// Requests at a time; what is beyond is left to those who ask.
const MOST: usize = 256;

/// Hears requests until the server is to end, and waits for those that are being answered.
pub(crate) async fn listen(server: Arc<Server>, listener: UnixListener, grace: Duration) {
    let mut over = std::pin::pin!(server.over());
    let mut working = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let busy = working.len() >= MOST;
                    working.spawn(hear(server.clone(), stream, busy));
                }
                Err(error) => {
                    server.say(&format!("a connection was lost: {error}"));
                    // Too many open files, most likely: some are closed soon.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            Some(_) = working.join_next(), if !working.is_empty() => {}
            () = &mut over => break,
        }
    }
    drop(listener);
    let rest = async { while working.join_next().await.is_some() {} };
    if timeout(grace, rest).await.is_err() {
        server.say("hooks that still ran were ended");
    }
}

async fn hear(server: Arc<Server>, mut stream: UnixStream, busy: bool) {
    let peer = match stream.peer_cred() {
        Ok(peer) if peer.uid() == rustix::process::geteuid().as_raw() => peer.pid(),
        Ok(peer) => return server.say(&format!("user {} was turned away", peer.uid())),
        Err(error) => return server.say(&format!("somebody without a name was turned away: {error}")),
    };
    let request = match timeout(ASKING, wire::read(&mut stream)).await {
        Ok(Ok(request)) => request,
        Ok(Err(why)) => return server.say(&why),
        Err(_) => return server.say("a request that did not come to its end"),
    };
    match request.head.ask {
        Ask::Status => {
            let status = server.status().await.to_string();
            let _ = wire::send(&mut stream, wire::ANSWER, status.as_bytes()).await;
        }
        Ask::Stop => {
            let _ = wire::send(&mut stream, wire::ANSWER, b"{}").await;
            // It is closed when this process has ended.
            server.leaving.lock().await.push(stream);
            server.stop.send_replace(true);
        }
        Ask::Dispatch => dispatch(server, stream, request, peer, busy).await,
    }
}

/// Why an event is left to the process that asks.
fn left(server: &Server, request: &Request, peer: Option<i32>, busy: bool) -> Option<&'static str> {
    if server.stopping() {
        Some("stopping")
    } else if busy {
        Some("busy")
    } else if request.head.build != server.build {
        Some("build")
    } else if request.head.umask != server.umask {
        Some("umask")
    } else if !peer::lives_here(peer) {
        Some("sandbox")
    } else {
        None
    }
}

async fn dispatch(
    server: Arc<Server>,
    mut stream: UnixStream,
    request: Request,
    peer: Option<i32>,
    busy: bool,
) {
    if let Some(why) = left(&server, &request, peer, busy) {
        server.metrics.declined(why);
        let _ = wire::send(&mut stream, wire::DECLINED, why.as_bytes()).await;
        return;
    }
    if wire::send(&mut stream, wire::ACCEPTED, b"").await.is_err() {
        return;
    }
    let (mut hears, mut says) = stream.into_split();
    // Beside this task: a payload of many megabytes takes a while to be read, and the signs of life must not wait for it.
    let mut work = JoinSet::new();
    work.spawn({
        let server = server.clone();
        async move {
            let question = Question {
                agent: request.head.agent.as_deref(),
                event: request.head.event.as_deref(),
                sources: &request.head.sources,
                world: &request.world,
                payload: &request.payload,
            };
            server.answer(&question).await
        }
    });
    let mut pulse = interval(PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pulse.tick().await;
    let given = loop {
        tokio::select! {
            given = work.join_next() => break given,
            _ = pulse.tick() => {
                if wire::send(&mut says, wire::RUNNING, b"").await.is_err() {
                    break None;
                }
            }
            // A word or the end: it does not want the answer any more.
            _ = hears.read_u8() => break None,
        }
    };
    // Where nobody waits any more the hooks are ended before that is said.
    work.shutdown().await;
    match given {
        // The hooks are ended by now.
        // Or the work has panicked: whoever asks does it once more.
        None | Some(Err(_)) => {
            let _ = wire::send(&mut says, wire::ENDED, b"").await;
        }
        Some(Ok(Err(why))) => {
            server.metrics.declined(why.word());
            let _ = wire::send(&mut says, wire::DECLINED, why.word().as_bytes()).await;
        }
        Some(Ok(Ok(given))) => {
            let body = serde_json::to_vec(&given.spoken).unwrap_or_default();
            let sent = wire::send(&mut says, wire::ANSWER, &body).await.is_ok();
            let heard = match sent {
                true => timeout(DELIVERING, hears.read_u8()).await,
                false => Ok(Ok(wire::CANCEL)),
            };
            let _ = says.shutdown().await;
            server.given(given, matches!(heard, Ok(Ok(wire::DELIVERED)))).await;
        }
    }
}
