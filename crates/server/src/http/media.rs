//! Media types: JSON and YAML, for requests and responses.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use stoker_manifest::Format;

use crate::http::error::ApiError;

pub(crate) const JSON: &str = "application/json";
pub(crate) const YAML: &str = "application/x-yaml";
/// YAML media types; responses use the first.
const YAML_TYPES: &[&str] = &[YAML, "application/yaml", "text/yaml", "text/x-yaml"];
const JSON_TYPES: &[&str] = &[JSON, "text/json", "*/*", "application/*"];

/// Media type of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseFormat {
    Json,
    Yaml,
    /// A media type specific to the operation.
    Own,
}

/// Detects the format of a body. Without a meaningful `Content-Type` (curl sends `application/x-www-form-urlencoded`)
/// the first character decides.
pub(crate) fn format_of(headers: &HeaderMap, body: &[u8]) -> Format {
    match first_type(headers.get(header::CONTENT_TYPE)) {
        Some(media) if YAML_TYPES.contains(&media.as_str()) => Format::Yaml,
        Some(media) if media == "application/json" || media.ends_with("+json") => Format::Json,
        _ => match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None | Some(b'{' | b'[' | b'"') => Format::Json,
            Some(_) => Format::Yaml,
        },
    }
}

/// Content negotiation: rejects unsupported `Accept` values before the handler runs.
pub(crate) async fn negotiate(own: &'static [&'static str], request: Request, next: Next) -> Response {
    let response_format = match response_format(request.headers(), own) {
        Ok(response_format) => response_format,
        Err(error) => return error.into_response(),
    };
    let response = next.run(request).await;
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    if response_format == ResponseFormat::Yaml && is_json { as_yaml(response).await } else { response }
}

fn response_format(headers: &HeaderMap, own: &[&str]) -> Result<ResponseFormat, ApiError> {
    let Some(media) = first_type(headers.get(header::ACCEPT)) else { return Ok(ResponseFormat::Json) };
    let media = media.as_str();
    if own.contains(&media) {
        Ok(ResponseFormat::Own)
    } else if JSON_TYPES.contains(&media) {
        Ok(ResponseFormat::Json)
    } else if YAML_TYPES.contains(&media) {
        Ok(ResponseFormat::Yaml)
    } else {
        let offered: Vec<&str> = own.iter().copied().chain([JSON_TYPES[0], YAML_TYPES[0]]).collect();
        let message =
            format!("unsupported media type `{media}` in `Accept`; supported: {}", offered.join(", "));
        Err(ApiError::new(axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
    }
}

/// Reports whether the client accepts a media type specific to the operation.
pub(crate) fn accepts(headers: &HeaderMap, media: &str) -> bool {
    first_type(headers.get(header::ACCEPT)).as_deref() == Some(media)
}

/// Returns the first media type of a header, lowercase, without parameters.
fn first_type(value: Option<&HeaderValue>) -> Option<String> {
    let text = value?.to_str().ok()?;
    let first = text.split(',').next()?.split(';').next()?.trim();
    (!first.is_empty()).then(|| first.to_ascii_lowercase())
}

async fn as_yaml(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return (parts, Body::empty()).into_response() };
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
        return (parts, Body::from(bytes)).into_response();
    };
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(YAML_TYPES[0]));
    parts.headers.remove(header::CONTENT_LENGTH);
    (parts, Body::from(stoker_manifest::to_yaml(&value))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn first_accepted_type_is_used() {
        let check = |accept, expected| {
            assert_eq!(
                response_format(&headers(header::ACCEPT, accept), &["text/csv"]).ok(),
                expected,
                "{accept}"
            );
        };
        check("application/json", Some(ResponseFormat::Json));
        check("*/*", Some(ResponseFormat::Json));
        check("", Some(ResponseFormat::Json));
        check("application/x-yaml;q=1, application/json", Some(ResponseFormat::Yaml));
        check("Text/YAML", Some(ResponseFormat::Yaml));
        check("text/csv", Some(ResponseFormat::Own));
        check("image/png", None);
        assert_eq!(response_format(&HeaderMap::new(), &[]).ok(), Some(ResponseFormat::Json));
    }

    #[test]
    fn format_without_content_type_is_detected() {
        let form = "application/x-www-form-urlencoded";
        let check = |kind, body: &str, expected| {
            assert_eq!(
                format_of(&headers(header::CONTENT_TYPE, kind), body.as_bytes()),
                expected,
                "{kind} {body}"
            );
        };
        check("application/json; charset=utf-8", "- a", Format::Json);
        check("application/x-yaml", "[]", Format::Yaml);
        check(form, " {\"a\": 1}", Format::Json);
        check(form, "- id: a", Format::Yaml);
        assert_eq!(format_of(&HeaderMap::new(), b""), Format::Json);
    }
}
