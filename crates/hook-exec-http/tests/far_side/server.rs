//! Real servers on loopback that do what their test wants, byte by byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Got {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} twice");
        first
    }
}

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Does {
    /// Sends these bytes and closes.
    Says(Vec<u8>),
    /// Sends these bytes, and then nothing for ever.
    Hangs(Vec<u8>),
    /// Sends a byte of a body without end every few milliseconds.
    Drips,
    /// Sends a body of so many bytes as fast as it is taken.
    Floods(u64),
}

pub(crate) fn says(text: impl Into<String>) -> Does {
    Does::Says(text.into().into_bytes())
}

/// A whole answer with a JSON body.
pub(crate) fn json(body: &str) -> Does {
    answer("200 OK", "Content-Type: application/json\r\n", body)
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Does {
    says(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()))
}

pub(crate) fn redirect(status: u16, to: &str) -> Does {
    says(format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
}

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    got: Arc<Mutex<Vec<Got>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    /// A server that does the same with every request.
    pub(crate) async fn that(does: Does) -> Server {
        Server::with(move |_| does.clone()).await
    }

    pub(crate) async fn with(does: impl Fn(&Got) -> Does + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            address: listener.local_addr().unwrap(),
            got: Arc::default(),
            connections: Arc::default(),
        };
        let (own, does) = (server.clone(), Arc::new(does));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *own.connections.lock().unwrap() += 1;
                let (own, does) = (own.clone(), does.clone());
                tokio::spawn(async move { own.serve(stream, does.as_ref()).await });
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    pub(crate) async fn serve(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        does: &(impl Fn(&Got) -> Does + Send + Sync),
    ) {
        while let Some(got) = read(&mut stream).await {
            self.got.lock().unwrap().push(got.clone());
            // A client that hangs up early is what some tests are about.
            let again = match does(&got) {
                Does::Says(bytes) => {
                    let keeps = bytes.starts_with(b"HTTP/1.1") && find(&bytes, b"Content-Length:").is_some();
                    stream.write_all(&bytes).await.is_ok() && keeps && !cut(&bytes)
                }
                Does::Hangs(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    std::future::pending().await
                }
                Does::Drips => {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
                    while stream.write_all(b" ").await.is_ok() && stream.flush().await.is_ok() {
                        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                    }
                    false
                }
                Does::Floods(bytes) => {
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n{{");
                    let _ = stream.write_all(head.as_bytes()).await;
                    let chunk = vec![b' '; 64 * 1024];
                    let mut left = bytes;
                    while left > 0 && stream.write_all(&chunk).await.is_ok() {
                        left = left.saturating_sub(chunk.len() as u64);
                    }
                    false
                }
            };
            if !again {
                let _ = stream.shutdown().await;
                return;
            }
        }
    }
}

/// True where the answer promises more than it holds.
fn cut(bytes: &[u8]) -> bool {
    let Some(end) = find(bytes, b"\r\n\r\n") else { return true };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let promised = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    promised.is_some_and(|promised: usize| promised != bytes.len() - end - 4)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Got> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let got = Got { line, headers, body: String::new() };
    let length: usize = got.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
    Some(Got { body, ..got })
}
