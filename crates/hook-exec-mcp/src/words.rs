//! What a server writes beside its messages: the tail of its standard error, and the first line of its standard output that
//! is no message.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::sync::watch;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Bytes of the standard error that are kept: the last ones.
const KEPT: usize = 4096;

/// Lines of it that are told.
const LINES: usize = 5;

/// Characters of one line that are told.
const LONGEST: usize = 300;

/// What one server wrote.
pub(crate) struct Words {
    tail: Mutex<VecDeque<u8>>,
    stray: Mutex<Option<String>>,
    finished: watch::Sender<bool>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Words {
    pub(crate) fn new() -> Arc<Words> {
        let finished = watch::Sender::new(false);
        Arc::new(Words { tail: Mutex::default(), stray: Mutex::default(), finished })
    }

    /// Reads a standard error to its end, or until it is told to stop: a server whose pipe is full would stand still.
    pub(crate) async fn read(&self, mut stderr: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 4 * KEPT];
        let mut finished = self.finished.subscribe();
        loop {
            let read = tokio::select! {
                read = stderr.read(&mut chunk) => read,
                _ = finished.wait_for(|finished| *finished) => break,
            };
            match read {
                Ok(read) if read > 0 => self.keep(&chunk[..read]),
                _ => break,
            }
            // A server that never stops writing must not hold up the hooks beside it.
            yield_now().await;
        }
        self.stop();
    }

    fn keep(&self, bytes: &[u8]) {
        let mut tail = held(&self.tail);
        tail.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let surplus = tail.len().saturating_sub(KEPT);
        tail.drain(..surplus);
    }

    /// Nobody listens any more: what a server left behind may hold the pipe open for ever.
    pub(crate) fn stop(&self) {
        self.finished.send_replace(true);
    }

    /// What there is to tell, as notes. Waits up to `grace` for the end of the standard error: what a dying server wrote last is
    /// the cause.
    pub(crate) async fn notes(&self, grace: Duration) -> Vec<String> {
        let mut finished = self.finished.subscribe();
        let _ = timeout(grace, finished.wait_for(|finished| *finished)).await;
        let mut notes = Vec::new();
        if let Some(line) = held(&self.stray).as_deref() {
            notes.push(format!("its standard output is for messages only, and it wrote: {line}"));
        }
        let tail: Vec<u8> = held(&self.tail).iter().copied().collect();
        let text = String::from_utf8_lossy(&tail);
        let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        if !last.is_empty() {
            notes.push(format!("its last words: {}", last.join(" | ")));
        }
        notes
    }
}

/// A line without what would reach into a terminal, and not endless.
fn plain(line: &str) -> String {
    let printed: String = line.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
    printed.trim().to_owned()
}

/// A standard output on its way to the MCP library, which passes over lines that are no message. The first of them is kept.
pub(crate) struct Overheard<R> {
    inner: R,
    words: Arc<Words>,
    line: Line,
}

/// Where in a line the reading is.
enum Line {
    Begins,
    /// Within a message, or after the line that was kept.
    Passes,
    /// Within a line that is no message.
    Kept(Vec<u8>),
    /// One line is enough.
    Done,
}

impl<R> Overheard<R> {
    pub(crate) fn new(inner: R, words: Arc<Words>) -> Overheard<R> {
        Overheard { inner, words, line: Line::Begins }
    }

    fn hear(&mut self, mut bytes: &[u8]) {
        while let Some(&first) = bytes.first() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            self.line = match std::mem::replace(&mut self.line, Line::Passes) {
                Line::Done => {
                    self.line = Line::Done;
                    return;
                }
                // A mark of the byte order, blanks and batches are the library's to judge.
                Line::Begins if matches!(first, b'{' | b'[' | 0xef) || first.is_ascii_whitespace() => {
                    Line::Passes
                }
                Line::Begins => Line::Kept(line[..line.len().min(4 * LONGEST)].to_vec()),
                Line::Kept(mut kept) => {
                    kept.extend(&line[..line.len().min((4 * LONGEST).saturating_sub(kept.len()))]);
                    Line::Kept(kept)
                }
                Line::Passes => Line::Passes,
            };
            match &self.line {
                Line::Kept(kept) if end.is_some() || kept.len() >= 4 * LONGEST => {
                    let said = plain(&String::from_utf8_lossy(kept));
                    *held(&self.words.stray) = Some(said);
                    self.line = Line::Done;
                }
                Line::Passes if end.is_some() => self.line = Line::Begins,
                _ => {}
            }
            bytes = rest;
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Overheard<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(task, buffer))?;
        self.hear(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_of_a_flood_are_told_without_control_characters() {
        let words = Words::new();
        let mut flood = "x".repeat(100_000);
        flood.push_str("\nfirst\n\nsecond \u{1b}[31mred\n");
        words.read(flood.as_bytes()).await;
        let notes = words.notes(Duration::from_secs(5)).await;
        let [note] = &notes[..] else { panic!("{notes:?}") };
        assert!(
            note.starts_with("its last words: xxx") && note.ends_with(" | first | second [31mred"),
            "{note}"
        );
        assert!(note.len() < 2 * LONGEST);
    }

    #[tokio::test]
    async fn the_first_line_that_is_no_message_is_kept_however_it_arrives() {
        let table: &[(&[&str], Option<&str>)] = &[
            (&["{\"a\":1}\n", "{\"b\":2}\n"], None),
            (&["\n \r\n{\"a\":\n"], None),
            (&["{\"a\"", ":\"x\ny"], Some("y")),
            (&["Server ", "started\n{}\nMore\n"], Some("Server started")),
            (&["{}\nlate\nlater\n"], Some("late")),
        ];
        for (chunks, expected) in table {
            let words = Words::new();
            let mut heard = Overheard::new(tokio::io::empty(), words.clone());
            chunks.iter().for_each(|chunk| heard.hear(chunk.as_bytes()));
            heard.hear(b"\n");
            assert_eq!(held(&words.stray).as_deref(), *expected, "{chunks:?}");
        }
        let words = Words::new();
        let mut heard = Overheard::new(tokio::io::empty(), words.clone());
        (0..100).for_each(|_| heard.hear(&[b'x'; 1000]));
        assert_eq!(held(&words.stray).as_ref().map(String::len), Some(LONGEST));
    }
}
