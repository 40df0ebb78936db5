//! Reading one stream to its end, keeping its head.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hook_core::Stream;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::yield_now;

/// Bytes per read.
const CHUNK: usize = 16 * 1024;

/// Reads before others get their turn: a stream that never runs dry must not hold up the hooks beside it.
const READS_PER_TURN: u32 = 8;

/// What was read so far. It stays readable when the reading is given up.
pub(crate) struct Capture {
    kept: Vec<u8>,
    limit: usize,
    dropped: u64,
    /// What is kept goes here, too, as it comes.
    spool: Option<Spool>,
}

/// A file that outlives this process, with what hooks had written by the time it was ended.
pub(crate) struct Spool {
    file: File,
    room: usize,
}

/// Of one stream so much is spooled.
const MAX_SPOOL: usize = 64 * 1024;

impl Spool {
    /// The file at this path, for this user alone. Where it cannot be written the hook runs all the same.
    pub(crate) fn open(path: &Path) -> Option<Spool> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).ok()?;
        Some(Spool { file, room: MAX_SPOOL })
    }

    fn take(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(self.room)];
        self.room -= bytes.len();
        if !bytes.is_empty() && self.file.write_all(bytes).is_err() {
            self.room = 0;
        }
    }
}

impl Capture {
    pub(crate) fn new(limit: usize) -> Capture {
        Capture { kept: Vec::new(), limit, dropped: 0, spool: None }
    }

    pub(crate) fn spool(mut self, spool: Option<Spool>) -> Capture {
        self.spool = spool;
        self
    }

    /// Reads until the end of the stream. An error of the pipe ends it like an end.
    pub(crate) async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; CHUNK];
        let mut turn = 0;
        while let Ok(read) = stream.read(&mut chunk).await {
            if read == 0 {
                break;
            }
            self.take(&chunk[..read]);
            turn += 1;
            if turn == READS_PER_TURN {
                turn = 0;
                yield_now().await;
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(spool) = &mut self.spool {
            spool.take(bytes);
        }
        let room = self.limit - self.kept.len();
        let (keep, drop) = bytes.split_at(room.min(bytes.len()));
        self.kept.extend_from_slice(keep);
        self.dropped += drop.len() as u64;
    }

    /// Decodes once, at the end: a character that arrived in two chunks stays one, and one that the limit cut in two is
    /// dropped.
    pub(crate) fn finish(mut self) -> Stream {
        if self.dropped > 0
            && let Err(error) = std::str::from_utf8(&self.kept)
            && error.error_len().is_none()
        {
            self.dropped += (self.kept.len() - error.valid_up_to()) as u64;
            self.kept.truncate(error.valid_up_to());
        }
        match String::from_utf8(self.kept) {
            Ok(text) => Stream { text, dropped: self.dropped, lossy: false },
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Stream { text, dropped: self.dropped, lossy: true }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use tokio::io::{AsyncReadExt, repeat};

    use super::Capture;

    #[test]
    fn a_stream_that_is_always_ready_gives_way() {
        let mut capture = Capture::new(10);
        let mut fill = pin!(capture.fill(Some(repeat(b'a').take(64 * 1024 * 1024))));
        let first = fill.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(first.is_pending(), "64 MiB in one turn");
    }

    #[test]
    fn the_head_is_kept_and_the_rest_counted() {
        // bytes by chunk, limit, text, dropped, lossy
        type Row = (&'static [&'static [u8]], usize, &'static str, u64, bool);
        let table: [Row; 7] = [
            (&[], 4, "", 0, false),
            (&[b"abcd"], 4, "abcd", 0, false),
            (&[b"abc", b"defg", b"h"], 4, "abcd", 4, false),
            (&[b"a\xc3", b"\xa9b"], 9, "a\u{e9}b", 0, false),
            (&[b"abc\xc3\xa9"], 4, "abc", 2, false),
            (&[b"a\xffb"], 9, "a\u{fffd}b", 0, true),
            (&[b"a\xc3"], 9, "a\u{fffd}", 0, true),
        ];
        for (chunks, limit, text, dropped, lossy) in table {
            let mut capture = Capture::new(limit);
            chunks.iter().for_each(|chunk| capture.take(chunk));
            let stream = capture.finish();
            assert_eq!(
                (stream.text.as_str(), stream.dropped, stream.lossy),
                (text, dropped, lossy),
                "{chunks:?}"
            );
        }
    }
}
