//! Reading one stream to its end, keeping its head.

use hook_core::Stream;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What was read so far. It stays readable when the reading is given up.
pub(crate) struct Capture {
    kept: Vec<u8>,
    limit: usize,
    dropped: u64,
}

impl Capture {
    pub(crate) fn new(limit: usize) -> Capture {
        Capture { kept: Vec::new(), limit, dropped: 0 }
    }

    /// Reads until the end of the stream. An error of the pipe ends it like an end.
    pub(crate) async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(read) = stream.read(&mut chunk).await {
            if read == 0 {
                break;
            }
            let room = self.limit - self.kept.len();
            let (keep, drop) = chunk[..read].split_at(room.min(read));
            self.kept.extend_from_slice(keep);
            self.dropped += drop.len() as u64;
        }
    }

    /// Decodes once, at the end: a character that arrived in two chunks stays one, and one that the limit cut in two is dropped.
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
