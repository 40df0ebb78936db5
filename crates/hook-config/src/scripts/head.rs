//! The first bytes of a script.

use std::path::Path;

use hook_core::Files;

/// How much of a script is looked at.
const LENGTH: u64 = 512;

/// What a script's beginning says.
pub(super) struct Head {
    /// It begins with `#!`.
    pub(super) shebang: bool,
    /// Its first line ends with CRLF.
    pub(super) crlf: bool,
    /// It is no text.
    pub(super) binary: bool,
}

/// Looks at the beginning of a file; `None` where it cannot be read.
pub(super) fn read(files: &dyn Files, path: &Path) -> Option<Head> {
    let bytes = files.head(path, LENGTH).ok()?;
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let crlf = end.is_some_and(|end| end > 0 && bytes[end - 1] == b'\r');
    Some(Head { shebang: bytes.starts_with(b"#!"), crlf, binary: bytes.contains(&0) })
}
