//! Path normalization before routing.
//!
//! Fuel clients use paths with or without a trailing slash, with `/api`, `/api/v1` or no prefix, and some tunnel the
//! method through a header. A redirect would turn their PUT into GET, so the request itself is rewritten.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{Method, Uri};

/// Placeholder for the tenant of the token in a path.
pub(crate) const OWN_TENANT: &str = "-";
/// Prefix of the API.
pub(crate) const PREFIX: &str = "/api/v1";
const SHORT_PREFIX: &str = "/api";
/// Prefix of the module API; the next segment is a tenant.
const MODULES_PREFIX: &str = "/v1.0";
const METHOD_OVERRIDE: &str = "x-http-method-override";

/// Path normalization rules.
#[derive(Clone)]
pub(crate) struct Rewrite {
    collections: Arc<BTreeSet<String>>,
}

impl Rewrite {
    /// Creates the rules. `paths` are the paths of the published document.
    pub(crate) fn new<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let collections = paths
            .filter_map(|path| path.strip_prefix(PREFIX)?.strip_prefix('/'))
            .filter_map(|path| path.split('/').next())
            .map(str::to_owned)
            .collect();
        Self { collections: Arc::new(collections) }
    }

    pub(crate) fn apply<B>(&self, mut request: Request<B>) -> Request<B> {
        if let Some(method) = overridden(&request) {
            *request.method_mut() = method;
        }
        if let Some(path) = self.path(request.uri().path()) {
            *request.uri_mut() = with_path(request.uri(), &path);
        }
        request
    }

    /// Returns the normalized path if it differs.
    fn path(&self, original: &str) -> Option<String> {
        let trimmed = original.trim_end_matches('/');
        let path = if trimmed.is_empty() { "/" } else { trimmed };
        let path = match path.strip_prefix(SHORT_PREFIX) {
            Some(rest) if path.starts_with("/api/v1/") || path == PREFIX || rest.is_empty() => {
                path.to_owned()
            }
            Some(rest) if rest.starts_with('/') => format!("{PREFIX}{rest}"),
            _ if self.is_bare(path) => format!("{PREFIX}{path}"),
            _ if is_without_tenant(path) => {
                format!("{MODULES_PREFIX}/{OWN_TENANT}{}", &path[MODULES_PREFIX.len()..])
            }
            _ => path.to_owned(),
        };
        (path != original).then_some(path)
    }

    fn is_bare(&self, path: &str) -> bool {
        path[1..].split('/').next().is_some_and(|segment| self.collections.contains(segment))
    }
}

/// Reports whether a module API path has no tenant.
fn is_without_tenant(path: &str) -> bool {
    let rest = path.strip_prefix(MODULES_PREFIX).and_then(|rest| rest.strip_prefix('/'));
    let first = rest.and_then(|rest| rest.split('/').next());
    first.is_some_and(|first| ["datastores", "instances", "modules"].contains(&first))
}

fn overridden<B>(request: &Request<B>) -> Option<Method> {
    let requested = request.headers().get(METHOD_OVERRIDE)?.to_str().ok()?;
    [Method::PUT, Method::PATCH, Method::DELETE]
        .into_iter()
        .find(|method| method.as_str().eq_ignore_ascii_case(requested))
}

fn with_path(uri: &Uri, path: &str) -> Uri {
    let text = uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut parts = uri.clone().into_parts();
    // A part of a valid path and query is valid; otherwise the original is used.
    let Ok(path_and_query) = text.parse() else { return uri.clone() };
    parts.path_and_query = Some(path_and_query);
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_paths_are_normalized() {
        let rewrite =
            Rewrite::new(["/api/v1/graphs/{id}", "/api/v1/clusters", "/v3/auth/tokens"].into_iter());
        for (original_path, expected) in [
            ("/api/v1/graphs/1/?a=b", "/api/v1/graphs/1?a=b"),
            ("/api/v1/graphs/1", "/api/v1/graphs/1"),
            ("/api/graphs/", "/api/v1/graphs"),
            ("/graphs", "/api/v1/graphs"),
            ("/clusters/1/deploy/?x", "/api/v1/clusters/1/deploy?x"),
            ("/clusterss", "/clusterss"),
            ("/v3/auth/tokens/", "/v3/auth/tokens"),
            ("/v1.0/modules", "/v1.0/-/modules"),
            ("/v1.0/instances/7/modules?x=1", "/v1.0/-/instances/7/modules?x=1"),
            ("/v1.0/7/modules/", "/v1.0/7/modules"),
            ("/v1.0/auth", "/v1.0/auth"),
            ("/", "/"),
            ("//", "/"),
            ("/api", "/api"),
            ("/api/v1", "/api/v1"),
            ("/apix/graphs", "/apix/graphs"),
        ] {
            let request = rewrite.apply(Request::builder().uri(original_path).body(()).unwrap());
            assert_eq!(request.uri().to_string(), expected, "{original_path}");
        }
    }

    #[test]
    fn method_override_header_is_applied() {
        let rewrite = Rewrite::new(std::iter::empty());
        for (requested, expected) in [("PUT", Method::PUT), ("delete", Method::DELETE), ("GET", Method::POST)]
        {
            let request = Request::post("/x").header(METHOD_OVERRIDE, requested).body(()).unwrap();
            assert_eq!(rewrite.apply(request).method(), expected);
        }
    }
}
