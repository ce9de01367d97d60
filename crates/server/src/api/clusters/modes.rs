//! Modes: how the nodes of a cluster stand to each other.

use stoker_model::NewRelease;

use crate::http::error::{ApiError, ApiResult};

pub(super) const MODES: &[&str] = &["ha_compact", "ha_full", "multinode"];

/// The mode of a cluster of this release: the one wished for, if the release offers it. A release that says nothing
/// of modes offers all of them.
pub(in crate::api) fn choose(release: &NewRelease, wished: Option<&str>) -> ApiResult<String> {
    let says_nothing = release.modes_metadata.is_empty();
    let mut offered =
        MODES.iter().copied().filter(|mode| says_nothing || release.modes_metadata.contains_key(*mode));
    let Some(wished) = wished else { return Ok(offered.next().unwrap_or(MODES[0]).to_owned()) };
    if offered.any(|mode| mode == wished) {
        return Ok(wished.to_owned());
    }
    let known: Vec<&str> = release.modes_metadata.keys().map(String::as_str).collect();
    Err(ApiError::bad_request(format!(
        "Cannot deploy in {wished} mode in current release. Need to be one of: {}",
        known.join(", ")
    )))
}
