//! What goes over the socket.
//!
//! A request is `HOOK`, the length of its head as four bytes, the head as JSON, and the parts whose lengths stand in the head: the
//! directory, the program, the environment and the payload, which need not be UTF-8. What comes back are frames: a letter, four bytes
//! of length, and as many bytes. All numbers have their highest byte first.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::args::SourceArgs;
use crate::dispatch::MAX_PAYLOAD;
use crate::world::World;

const MAGIC: &[u8; 4] = b"HOOK";

/// Larger heads and environments are nobody's.
const MOST: usize = 16 * 1024 * 1024;

/// The request was taken; its hooks run.
pub(crate) const ACCEPTED: u8 = b'A';
/// They still run.
pub(crate) const RUNNING: u8 = b'K';
/// The server leaves this one to the process that asks; the body says why.
pub(crate) const DECLINED: u8 = b'D';
/// The answer, as JSON.
pub(crate) const ANSWER: u8 = b'R';
/// What was cancelled is over, its hooks are ended.
pub(crate) const ENDED: u8 = b'E';

/// The one that asks has given the answer to its agent.
pub(crate) const DELIVERED: u8 = b'C';
/// It does not want an answer any more.
pub(crate) const CANCEL: u8 = b'X';

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// An agent's event.
    Dispatch,
    /// How the server is doing.
    Status,
    /// That it ends.
    Stop,
}

/// The head of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) ask: Ask,
    /// The program that asks ([`super::place::build`]).
    pub(crate) build: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
    #[serde(default)]
    pub(crate) sources: SourceArgs,
    pub(crate) umask: u32,
    #[serde(default)]
    lengths: [usize; 4],
    #[serde(default)]
    has_here: bool,
    #[serde(default)]
    has_program: bool,
}

impl Head {
    pub(crate) fn new(ask: Ask, build: String, umask: u32) -> Head {
        let (agent, event, sources) = (None, None, SourceArgs::default());
        Head {
            ask,
            build,
            agent,
            event,
            sources,
            umask,
            lengths: [0; 4],
            has_here: false,
            has_program: false,
        }
    }
}

/// A request, whole.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) head: Head,
    pub(crate) world: World,
    pub(crate) payload: String,
}

/// The bytes of a request.
pub(crate) fn request(mut head: Head, world: &World, payload: &str) -> Vec<u8> {
    let here = world.here.as_deref().map(|path| path.as_os_str().as_bytes());
    let program = world.program.as_deref().map(|path| path.as_os_str().as_bytes());
    let mut environment = Vec::new();
    for (name, value) in &world.environment {
        environment.extend_from_slice(name.as_bytes());
        environment.push(b'=');
        environment.extend_from_slice(value.as_bytes());
        environment.push(0);
    }
    (head.has_here, head.has_program) = (here.is_some(), program.is_some());
    let parts = [here.unwrap_or_default(), program.unwrap_or_default(), &environment, payload.as_bytes()];
    head.lengths = parts.map(<[u8]>::len);
    let head = serde_json::to_vec(&head).unwrap_or_default();
    let mut bytes = Vec::with_capacity(8 + head.len() + parts.iter().map(|part| part.len()).sum::<usize>());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&length(&head));
    bytes.extend_from_slice(&head);
    for part in parts {
        bytes.extend_from_slice(part);
    }
    bytes
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

/// Reads a request, or says what is wrong with it.
pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Request, String> {
    let cut = |error: std::io::Error| format!("a request that ends in the middle: {error}");
    let mut start = [0; 8];
    from.read_exact(&mut start).await.map_err(cut)?;
    let (magic, long) = start.split_at(4);
    let long = long.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    if magic != MAGIC || long > MOST {
        return Err("something that is no request".to_owned());
    }
    let mut head = vec![0; long];
    from.read_exact(&mut head).await.map_err(cut)?;
    let head: Head =
        serde_json::from_slice(&head).map_err(|error| format!("a request that cannot be read: {error}"))?;
    let most = usize::try_from(MAX_PAYLOAD).unwrap_or(usize::MAX);
    if head.lengths[3] > most || head.lengths[..3].iter().any(|long| *long > MOST) {
        return Err("a request that is too large".to_owned());
    }
    let mut parts: [Vec<u8>; 4] = Default::default();
    for (part, long) in parts.iter_mut().zip(head.lengths) {
        part.resize(long, 0);
        from.read_exact(part).await.map_err(cut)?;
    }
    let [here, program, environment, payload] = parts;
    let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
    let mut variables = BTreeMap::new();
    for entry in environment.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        // A name may begin with the sign, as on some systems.
        let at = entry.iter().skip(1).position(|byte| *byte == b'=').map(|at| at + 1);
        let (name, value) = at.map_or((entry, &entry[entry.len()..]), |at| (&entry[..at], &entry[at + 1..]));
        variables.insert(OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec()));
    }
    let world = World {
        environment: variables,
        here: head.has_here.then(|| path(here)),
        program: head.has_program.then(|| path(program)),
    };
    let payload = String::from_utf8(payload).map_err(|_| "a payload that is not UTF-8".to_owned())?;
    Ok(Request { head, world, payload })
}

/// Sends a frame.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), kind: u8, body: &[u8]) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(5 + body.len());
    bytes.push(kind);
    bytes.extend_from_slice(&length(body));
    bytes.extend_from_slice(body);
    to.write_all(&bytes).await?;
    to.flush().await
}

/// A frame at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) body: &'a [u8],
    /// How many bytes it takes.
    pub(crate) long: usize,
}

/// Nothing that a server says begins like that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoFrame;

/// The first frame in what has come so far; `None` as long as it is not whole.
pub(crate) fn frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, NoFrame> {
    let Some((&kind, rest)) = bytes.split_first() else { return Ok(None) };
    if ![ACCEPTED, RUNNING, DECLINED, ANSWER, ENDED].contains(&kind) {
        return Err(NoFrame);
    }
    let Some((long, body)) = rest.split_first_chunk::<4>() else { return Ok(None) };
    let long = usize::try_from(u32::from_be_bytes(*long)).map_err(|_| NoFrame)?;
    Ok(body.get(..long).map(|body| Frame { kind, body, long: 5 + long }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        let odd = OsString::from_vec(vec![b'v', 0xff, b'=', b'\n']);
        World {
            environment: [("A".into(), "".into()), ("B".into(), odd), ("=C".into(), "x=y".into())].into(),
            here: Some(OsString::from_vec(vec![b'/', 0xfe]).into()),
            program: None,
        }
    }

    async fn through(bytes: &[u8]) -> Result<Request, String> {
        read(&mut &*bytes).await
    }

    #[tokio::test]
    async fn a_request_comes_out_as_it_went_in() {
        let mut head = Head::new(Ask::Dispatch, "b".into(), 0o22);
        head.agent = Some("native".into());
        let bytes = request(head, &world(), "{\"é\": 1}");
        let got = through(&bytes).await.unwrap();
        assert_eq!(got.world, world());
        assert_eq!((got.payload.as_str(), got.head.umask), ("{\"é\": 1}", 0o22));
        assert_eq!(got.head.agent.as_deref(), Some("native"));
    }

    #[tokio::test]
    async fn what_is_no_request_is_refused_at_every_length() {
        let bytes = request(Head::new(Ask::Dispatch, "b".into(), 0), &world(), "{}");
        for long in 0..bytes.len() {
            assert!(through(&bytes[..long]).await.is_err(), "{long}");
        }
        assert!(through(b"GET / HTTP/1.1\r\n\r\n").await.unwrap_err().contains("no request"));
        assert!(through(b"HOOK\xff\xff\xff\xff").await.unwrap_err().contains("no request"));
        let huge = br#"{"ask":"dispatch","build":"","umask":0,"lengths":[0,0,0,99999999999]}"#;
        let mut bytes = b"HOOK".to_vec();
        bytes.extend_from_slice(&length(huge));
        bytes.extend_from_slice(huge);
        assert!(through(&bytes).await.unwrap_err().contains("too large"));
    }

    #[tokio::test]
    async fn frames_are_found_one_after_the_other() {
        let mut bytes = Vec::new();
        send(&mut bytes, ACCEPTED, b"").await.unwrap();
        send(&mut bytes, ANSWER, b"body").await.unwrap();
        assert_eq!(frame(&bytes), Ok(Some(Frame { kind: ACCEPTED, body: b"", long: 5 })));
        assert_eq!(frame(&bytes[5..]), Ok(Some(Frame { kind: ANSWER, body: b"body", long: 9 })));
        assert_eq!(frame(&bytes[5..12]), Ok(None));
        assert_eq!(frame(b""), Ok(None));
        assert_eq!(frame(b"zzz"), Err(NoFrame));
    }
}
