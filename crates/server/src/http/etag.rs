//! Optimistic concurrency: `ETag` on responses, `If-Match` on changes.

use std::fmt::Display;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use stoker_services::precondition::Precondition;
pub(crate) use stoker_services::precondition::graph_version as of_graph;

use crate::http::error::{ApiError, ApiResult};

/// Versions accepted by `If-Match`; without the header, any version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IfMatch(Precondition);

impl Deref for IfMatch {
    type Target = Precondition;

    fn deref(&self) -> &Precondition {
        &self.0
    }
}

impl IfMatch {
    fn read(headers: &HeaderMap) -> ApiResult<Self> {
        let Some(value) = headers.get(header::IF_MATCH) else { return Ok(Self(Precondition::Any)) };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(Precondition::Any));
        }
        let tags = text.split(',').map(|tag| {
            // Proxies that compress a response weaken its tag. Tags identify versions, not bytes, so weak
            // tags are accepted.
            let tag = tag.trim();
            let strong = tag.strip_prefix("W/").unwrap_or(tag);
            Some(strong.strip_prefix('"')?.strip_suffix('"')?.to_owned())
        });
        let tags: Option<Vec<String>> = tags.collect();
        tags.map(|tags| Self(Precondition::Versions(tags))).ok_or_else(|| {
            ApiError::bad_request(
                "`If-Match` must be a list of quoted tags from the `ETag` of an earlier response",
            )
        })
    }
}

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::read(&parts.headers)
    }
}

pub(crate) fn tag(version: impl Display) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_accepts_only_listed_versions() {
        let check = |value: &'static str, current| {
            let headers = HeaderMap::from_iter([(header::IF_MATCH, HeaderValue::from_static(value))]);
            IfMatch::read(&headers)
                .and_then(|condition| Ok(condition.check(current)?))
                .map_err(|error| error.status().as_u16())
        };
        assert_eq!(check("\"3\"", 3), Ok(()));
        assert_eq!(check("\"2\", \"3\"", 3), Ok(()));
        assert_eq!(check("*", 3), Ok(()));
        assert_eq!(check("W/\"3\"", 3), Ok(()));
        assert_eq!(check("\"2\"", 3), Err(412));
        assert_eq!(check("\"other\"", 3), Err(412));
        assert_eq!(check("3", 3), Err(400));
        assert_eq!(IfMatch::read(&HeaderMap::new()).unwrap(), IfMatch(Precondition::Any));
    }
}
