//! Deployment modes of clusters, such as `ha_compact`.

use stoker_model::{CLUSTER_MODES, NewRelease};

use crate::error::{ServiceError, ServiceResult};

/// Returns the requested mode, or the first mode of the release. A release without `modes_metadata` supports
/// all modes.
pub fn choose(release: &NewRelease, requested: Option<&str>) -> ServiceResult<String> {
    let supports_all = release.modes_metadata.is_empty();
    let mut supported = CLUSTER_MODES
        .iter()
        .copied()
        .filter(|mode| supports_all || release.modes_metadata.contains_key(*mode));
    let Some(requested) = requested else {
        return Ok(supported.next().unwrap_or(CLUSTER_MODES[0]).to_owned());
    };
    if supported.any(|mode| mode == requested) {
        return Ok(requested.to_owned());
    }
    let modes: Vec<&str> = release.modes_metadata.keys().map(String::as_str).collect();
    Err(ServiceError::invalid(format!(
        "Cannot deploy in {requested} mode in current release. Need to be one of: {}",
        modes.join(", ")
    )))
}
