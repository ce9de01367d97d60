//! Deployment modes of clusters, such as `ha_compact`.

use stoker_api_types::clusters::MODES;
use stoker_model::NewRelease;

use crate::http::error::{ApiError, ApiResult};

/// Returns the requested mode, or the first mode of the release. A release without `modes_metadata` supports
/// all modes.
pub(in crate::api) fn choose(release: &NewRelease, requested: Option<&str>) -> ApiResult<String> {
    let supports_all = release.modes_metadata.is_empty();
    let mut supported =
        MODES.iter().copied().filter(|mode| supports_all || release.modes_metadata.contains_key(*mode));
    let Some(requested) = requested else { return Ok(supported.next().unwrap_or(MODES[0]).to_owned()) };
    if supported.any(|mode| mode == requested) {
        return Ok(requested.to_owned());
    }
    let known: Vec<&str> = release.modes_metadata.keys().map(String::as_str).collect();
    Err(ApiError::bad_request(format!(
        "Cannot deploy in {requested} mode in current release. Need to be one of: {}",
        known.join(", ")
    )))
}
