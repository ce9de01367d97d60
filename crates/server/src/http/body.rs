//! Request bodies: bounded, JSON or YAML, parsed with source positions.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRef, FromRequest, OptionalFromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame};
use serde::Serialize;
use stoker_diagnostics::{Diagnostic, Diagnostics};
use stoker_manifest::graph::{self, GraphBody};
use stoker_manifest::reader::{self, Fields};
use stoker_manifest::{Format, ParseOptions, Parsed, parse_with};
use stoker_model::Json;
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::http::error::{ApiError, ApiResult};
use crate::http::response::warning_texts;
use crate::http::{media, read_only};

/// Maximum number of bytes of an oversized body that are read and discarded, so that its sender reads the
/// response instead of a connection reset.
const DRAIN_BYTES_MAX: u64 = 256 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(20);
/// Limit for unauthenticated requests; a login is much shorter.
const SMALL_BYTES_MAX: usize = 64 << 10;
/// Timeout between two frames of a body.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Maximum size of a body that is parsed inline; larger bodies are parsed on a blocking thread.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A parsed body. Syntax problems that leave the structure readable are reported together with structural
/// problems.
#[derive(Debug)]
pub(crate) struct Document {
    text: String,
    node: Node,
    problems: Vec<Diagnostic>,
}

impl Document {
    /// Reads the body with a function that collects problems; any error fails the request.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Node, &mut Diagnostics) -> Option<T>) -> ApiResult<T> {
        self.read_with_warnings(read).map(|(value, _)| value)
    }

    /// Like [`Self::read`]. Also returns the warnings.
    fn read_with_warnings<T>(
        &self,
        read: impl FnOnce(&Node, &mut Diagnostics) -> Option<T>,
    ) -> ApiResult<(T, Vec<Diagnostic>)> {
        let mut problems = Diagnostics::after(self.problems.clone());
        match read(&self.node, &mut problems) {
            Some(value) if !problems.has_errors() => Ok((value, problems.into_vec())),
            _ => Err(ApiError::invalid(problems.into_vec())),
        }
    }

    /// Reads a request type; undeclared keys are errors.
    pub(crate) fn request<T: stoker_api_types::Request>(&self) -> ApiResult<T> {
        self.fields(T::read)
    }

    /// Like [`Self::request`]. Also returns the texts of the warnings.
    pub(crate) fn request_with_warnings<T: stoker_api_types::Request>(&self) -> ApiResult<(T, Vec<String>)> {
        let (request, warnings) = self.fields_with_warnings(T::read)?;
        Ok((request, warning_texts(&warnings)))
    }

    /// Reads the body as a map; keys that `read` does not consume are errors.
    pub(crate) fn fields<T>(&self, read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>) -> ApiResult<T> {
        self.fields_with_warnings(read).map(|(value, _)| value)
    }

    /// Like [`Self::fields`]. Also returns the warnings.
    pub(crate) fn fields_with_warnings<T>(
        &self,
        read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>,
    ) -> ApiResult<(T, Vec<Diagnostic>)> {
        self.read_with_warnings(|node, problems| {
            let mut fields = Fields::of_document(node, &self.text, problems)?;
            let value = read(&mut fields);
            fields.finish();
            value
        })
    }

    /// Rejects read-only fields of an update whose values differ from the stored resource, as its response shows it.
    pub(crate) fn check_read_only(&self, keys: &[&'static str], stored: &impl Serialize) -> ApiResult<()> {
        self.read(|node, problems| {
            read_only::compare(node, keys, stored, problems);
            Some(())
        })
    }

    /// Like [`Self::check_read_only`], for a list of updates and their resources in the same order.
    pub(crate) fn check_read_only_items(
        &self,
        keys: &[&'static str],
        stored: &[impl Serialize],
    ) -> ApiResult<()> {
        self.read(|node, problems| {
            for (index, (item, stored)) in node.as_seq().unwrap_or_default().iter().zip(stored).enumerate() {
                problems.in_item(index, |problems| read_only::compare(item, keys, stored, problems));
            }
            Some(())
        })
    }

    /// Reads a graph, or a bare list of its tasks, and returns all its warnings.
    pub(crate) fn graph_with_warnings(&self) -> ApiResult<(GraphBody, Vec<Diagnostic>)> {
        self.read_with_warnings(|node, problems| graph::read_node(node, &self.text, problems))
    }

    /// Reports whether the body has no content: `{}`, `[]` or null. Clients send these where they have no body.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.node.kind {
            NodeKind::Map(entries) => entries.is_empty(),
            NodeKind::Seq(items) => items.is_empty(),
            NodeKind::Scalar(scalar) => matches!(scalar, Scalar::Null),
        }
    }

    /// Returns the body with source positions.
    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the text as sent, for readers that point into it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the body without positions.
    pub(crate) fn json(&self) -> ApiResult<Json> {
        self.read(reader::json)
    }

    /// Like [`Self::json`], but rounds integers that JSON values cannot represent, so that a later range check can report
    /// them.
    pub(crate) fn json_roughly(&self) -> ApiResult<Json> {
        self.json().or_else(|_| self.read(|node, problems| reader::json(&rounded(node), problems)))
    }
}

fn rounded(node: &Node) -> Node {
    let kind = match &node.kind {
        // The digits of the integer form a valid JSON number.
        NodeKind::Scalar(Scalar::BigInt(number)) => {
            let roughly = number.to_string().parse::<f64>().unwrap_or(f64::MAX).clamp(f64::MIN, f64::MAX);
            NodeKind::Scalar(Scalar::Float(roughly))
        }
        NodeKind::Scalar(scalar) => NodeKind::Scalar(scalar.clone()),
        NodeKind::Seq(items) => NodeKind::Seq(items.iter().map(rounded).collect()),
        NodeKind::Map(entries) => {
            NodeKind::Map(entries.iter().map(|(key, value)| (key.clone(), rounded(value))).collect())
        }
    };
    Node { kind, span: node.span }
}

/// Maximum size of a body in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimit(pub(crate) usize);

impl<S: Send + Sync> FromRequest<S> for Document
where
    BodyLimit: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (text, format) = text_of(request, BodyLimit::from_ref(state).0).await?;
        parse(text, format).await
    }
}

/// For operations with an optional body; an empty body is `None`.
impl<S: Send + Sync> OptionalFromRequest<S> for Document
where
    BodyLimit: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Option<Self>, ApiError> {
        let (text, format) = text_of(request, BodyLimit::from_ref(state).0).await?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        parse(text, format).await.map(Some)
    }
}

/// A body of an unauthenticated request: short, and JSON only, which is cheap to parse.
#[derive(Debug)]
pub(crate) struct SmallDocument(pub(crate) Document);

impl<S: Send + Sync> FromRequest<S> for SmallDocument {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (text, _) = text_of(request, SMALL_BYTES_MAX).await?;
        parse(text, Format::Json).await.map(Self)
    }
}

/// Rejects a body with content. For operations that declare no body: their caller expects it to have an effect.
pub(crate) async fn refuse_content(request: Request) -> ApiResult<Request> {
    if request.body().is_end_stream() {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let (text, format) = text_of(Request::from_parts(parts.clone(), body), SMALL_BYTES_MAX).await?;
    if !text.trim().is_empty() && !parse(text, format).await?.is_empty() {
        return Err(ApiError::bad_request("this operation takes no request body; send an empty one"));
    }
    Ok(Request::from_parts(parts, Body::empty()))
}

async fn text_of(request: Request, bytes_max: usize) -> ApiResult<(String, Format)> {
    let (parts, body) = request.into_parts();
    let announced =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let bytes = if announced.is_some_and(|length| length > bytes_max as u64) {
        drain(body).await;
        None
    } else {
        collect(body, bytes_max).await?
    };
    let Some(bytes) = bytes else { return Err(too_large(bytes_max as u64)) };
    let format = media::format_of(&parts.headers, &bytes);
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        ApiError::bad_request(format!("the body is not UTF-8: invalid byte at offset {offset}"))
    })?;
    Ok((text, format))
}

/// Collects the body; `None` if it is too large.
async fn collect(mut body: Body, bytes_max: usize) -> ApiResult<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(frame) = next_frame(&mut body).await? {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("cannot read the body: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            drain(body).await;
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes))
}

/// Reads the next frame. A sender that stays silent until the timeout has disconnected, or holds the
/// connection open on purpose.
pub(crate) async fn next_frame(body: &mut Body) -> ApiResult<Option<Result<Frame<Bytes>, axum::Error>>> {
    tokio::time::timeout(SILENCE_MAX, body.frame())
        .await
        .map_err(|_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout while reading the body"))
}

pub(crate) async fn drain(mut body: Body) {
    let mut n_bytes = 0;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            n_bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            if n_bytes > DRAIN_BYTES_MAX {
                break;
            }
        }
    };
    // If the sender is slower than this, the connection is reset.
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, reading).await;
}

pub(crate) fn too_large(bytes_max: u64) -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {bytes_max} bytes"))
}

async fn parse(text: String, format: Format) -> ApiResult<Document> {
    let is_long = text.len() > INLINE_BYTES_MAX;
    let read = move || {
        let parsed = parse_with(&text, format, &ParseOptions::default());
        (text, parsed)
    };
    let (text, Parsed { node, problems }) = if is_long {
        let reading = tokio::task::spawn_blocking(read).await;
        reading.map_err(|_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "parsing the body failed"))?
    } else {
        read()
    };
    match node {
        Some(node) => Ok(Document { text, node, problems }),
        None => Err(ApiError::invalid(problems)),
    }
}
