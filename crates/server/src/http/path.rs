//! Path parameters. An id or name that cannot exist is reported as not found.

use std::collections::HashMap;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use stoker_model::{ErrorChain, GraphType, Owner, OwnerKind};
use stoker_services::graphs::owner_class;

use crate::http::error::{ApiError, ApiResult};

/// Parameters of the matched path.
#[derive(Debug)]
pub(crate) struct PathParams(HashMap<String, String>);

impl PathParams {
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Parses the id of a resource of this class.
    pub(crate) fn id<T>(&self, name: &str, make: impl FnOnce(i64) -> T, class: &str) -> ApiResult<T> {
        let id = self.text(name).parse().ok().filter(|id| *id > 0);
        id.map(make).ok_or_else(|| ApiError::not_found(class))
    }

    pub(crate) fn graph_type(&self, name: &str) -> ApiResult<GraphType> {
        GraphType::new(self.text(name))
            .map_err(|error| ApiError::new(axum::http::StatusCode::NOT_FOUND, ErrorChain(&error).to_string()))
    }

    /// Parses the owner of a path such as `/clusters/{id}/…`.
    pub(crate) fn owner(&self, kind: OwnerKind) -> ApiResult<Owner> {
        self.id("id", |id| Owner::new(kind, id), owner_class(kind))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathParams {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let raw = RawPathParams::from_request_parts(parts, state).await;
        let raw = raw.map_err(|error: RawPathParamsRejection| ApiError::bad_request(error.body_text()))?;
        Ok(Self(raw.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}
