//! Where a process starts when its directory is gone.

use std::path::PathBuf;

use hook_core::{Call, HostContext, Note};

use crate::words::variable;

/// Moves a call whose directory no longer exists to the next best place: the project, the home, a place for temporary files
/// ("Claude Code hooks reference, Working directory"). Gives a remark where it did.
pub(crate) fn settle(call: &mut Call, host: &HostContext) -> Option<Note> {
    if call.directory.is_dir() {
        return None;
    }
    let temporary = variable("TMPDIR", call).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let mut places = [Some(host.project.clone()), host.home.clone(), Some(temporary)].into_iter().flatten();
    let place = places.find(|place| place.is_absolute() && place.is_dir())?;
    let gone = std::mem::replace(&mut call.directory, place);
    Some(Note::warning(format!(
        "the working directory {} does not exist; the hook ran in {}",
        gone.display(),
        call.directory.display()
    )))
}
