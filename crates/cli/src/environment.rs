//! The one place that reads the environment.

#![expect(clippy::disallowed_methods, reason = "this is the edge at which the environment is read")]

use std::env;
use std::path::PathBuf;

/// Where programs keep what should survive but nobody edits, such as histories.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).and_then(absolute);
    let state = state.or_else(|| Some(env::home_dir().and_then(absolute)?.join(".local/state")))?;
    Some(state.join("stoker"))
}
