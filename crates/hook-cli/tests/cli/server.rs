//! A running `hook serve` in a place, and ways to ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Place, Said, feed};

/// A server. It is ended when this is dropped.
pub(crate) struct Server<'p> {
    pub(crate) place: &'p Place,
    child: Child,
    pub(crate) http: Option<String>,
    // Output of a later worker goes here; a closed pipe must not matter, and an open one keeps it readable.
    _out: BufReader<std::process::ChildStdout>,
    _in: Option<ChildStdin>,
}

/// What an HTTP request gave.
#[derive(Debug)]
pub(crate) struct Replied {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Replied {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn start<'p>(place: &'p Place, arguments: &[&str]) -> Server<'p> {
    start_in(place, arguments, &[])
}

pub(crate) fn start_in<'p>(place: &'p Place, arguments: &[&str], variables: &[(&str, &str)]) -> Server<'p> {
    let mut command = place.command();
    command.arg("serve").args(arguments).envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut http = None;
    loop {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the server did not start: {:?}", child.wait());
        if let Some((_, rest)) = line.split_once("and on http://") {
            http = rest.split(',').next().map(str::to_owned);
        }
        if line == "ready\n" {
            break;
        }
    }
    let _in = child.stdin.take();
    Server { place, child, http, _out: out, _in }
}

impl Server<'_> {
    pub(crate) fn status(&self) -> Value {
        self.place.hook(&["serve", "--status", "--json"]).exits(0).json()
    }

    /// The process that serves.
    pub(crate) fn worker(&self) -> u32 {
        u32::try_from(self.status()["pid"].as_u64().unwrap()).unwrap()
    }

    pub(crate) fn answered(&self) -> u64 {
        self.status()["answered"].as_u64().unwrap()
    }

    pub(crate) fn declined(&self) -> u64 {
        self.status()["declined"].as_u64().unwrap()
    }

    pub(crate) fn token(&self) -> String {
        let file = self.place.home().join(".local/state/hook/serve/token");
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// An HTTP request with the token.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Replied {
        let token = format!("Authorization: Bearer {}", self.token());
        self.request(method, path, &[&token], body.as_bytes())
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Replied {
        let mut stream = TcpStream::connect(self.http.as_deref().unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for header in headers {
            head.push_str(&format!("{header}\r\n"));
        }
        head.push_str("\r\n");
        // A server that refuses a body does not read all of it.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Replied { status, body: body.to_owned() }
    }

    /// The process that looks after the one that serves.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, for a while.
    #[track_caller]
    pub(crate) fn waited(mut self) -> Option<i32> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as a signal would, and waits for it.
    pub(crate) fn end(mut self) -> Option<i32> {
        signal("TERM", self.child.id());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal("TERM", self.child.id());
            let _ = self.child.wait();
        }
    }
}

/// Sends a signal to a process that these tests have started.
pub(crate) fn signal(name: &str, process: u32) {
    let sent = std::process::Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status();
    assert!(sent.unwrap().success());
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !so() {
        assert!(Instant::now() < end, "never so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `hook dispatch` with more arguments.
pub(crate) fn dispatch(place: &Place, arguments: &[&str], payload: &str) -> Said {
    let mut command = place.command();
    command.arg("dispatch").args(arguments);
    feed(command, payload.as_bytes())
}
