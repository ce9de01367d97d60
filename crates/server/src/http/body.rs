//! Bodies of requests: bounded, JSON or YAML, with the place of everything in them.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRef, FromRequest, OptionalFromRequest, Request};
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Frame;
use stoker_manifest::graph::{self, GraphBody};
use stoker_manifest::reader::{self, Fields};
use stoker_manifest::{Format, Options, Parsed, Problem, Problems, parse_with};
use stoker_model::Json;
use stoker_yaml::{Node, NodeKind, Scalar};

use crate::http::error::{ApiError, ApiResult};
use crate::http::media;

/// How much of a body that is too large is read and thrown away, so that its sender reads our answer instead of a
/// broken connection.
const DRAIN_BYTES_MAX: u64 = 256 << 20;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(20);
/// A login is much shorter.
const SMALL_BYTES_MAX: usize = 64 << 10;
/// Between two pieces of a body.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Larger bodies are parsed where they hold up nobody else.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A parsed body. What is wrong with its syntax and does not keep its shape from being read is told together with
/// what is wrong with that shape.
#[derive(Debug)]
pub(crate) struct Document {
    text: String,
    node: Node,
    problems: Vec<Problem>,
}

impl Document {
    /// Reads the body with a function that notes every problem; none may remain.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Node, &mut Problems) -> Option<T>) -> ApiResult<T> {
        let mut problems = Problems::after(self.problems.clone());
        let value = read(&self.node, &mut problems);
        match value {
            Some(value) if !problems.has_errors() => Ok(value),
            _ => Err(ApiError::invalid(&problems.into_vec())),
        }
    }

    /// Reads the body as a map; keys that `read` does not ask for are problems.
    pub(crate) fn fields<T>(&self, read: impl FnOnce(&mut Fields<'_, '_>) -> Option<T>) -> ApiResult<T> {
        self.read(|node, problems| {
            let mut fields = Fields::new(node, problems)?;
            let value = read(&mut fields);
            fields.finish();
            value
        })
    }

    /// A graph, or a bare list of its tasks, and everything that is noteworthy about it.
    pub(crate) fn graph_with_warnings(&self) -> ApiResult<(GraphBody, Vec<Problem>)> {
        let mut problems = Problems::after(self.problems.clone());
        let body = graph::read_node(&self.node, &self.text, &mut problems);
        match body {
            Some(body) if !problems.has_errors() => Ok((body, problems.into_vec())),
            _ => Err(ApiError::invalid(&problems.into_vec())),
        }
    }

    /// The body with the place of everything in it.
    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// The text as it came, for readers that point into it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The body without its positions.
    pub(crate) fn json(&self) -> ApiResult<Json> {
        self.read(reader::json)
    }

    /// The same where numbers are only compared with bounds: those that JSON values cannot keep are rounded, so that
    /// whoever knows the bounds can tell of them.
    pub(crate) fn json_roughly(&self) -> ApiResult<Json> {
        self.json().or_else(|_| self.read(|node, problems| reader::json(&rounded(node), problems)))
    }
}

fn rounded(node: &Node) -> Node {
    let kind = match &node.kind {
        // Its digits are those of a number, so they are one.
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

/// Bytes of a body at most; larger ones are refused.
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

/// For operations that can do without: nothing at all is no document.
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

/// A body from somebody who has not logged in: short, and JSON, which costs little to read.
#[derive(Debug)]
pub(crate) struct SmallDocument(pub(crate) Document);

impl<S: Send + Sync> FromRequest<S> for SmallDocument {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (text, _) = text_of(request, SMALL_BYTES_MAX).await?;
        parse(text, Format::Json).await.map(Self)
    }
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
        ApiError::bad_request(format!("the body is not UTF-8: byte {offset} belongs to no character"))
    })?;
    Ok((text, format))
}

/// The whole body, or `None` when it is too large.
async fn collect(mut body: Body, bytes_max: usize) -> ApiResult<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    while let Some(frame) = next_frame(&mut body).await? {
        let frame = frame.map_err(|error| ApiError::bad_request(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            drain(body).await;
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes))
}

/// A sender that says nothing for so long is gone, or wants to keep us busy.
pub(crate) async fn next_frame(body: &mut Body) -> ApiResult<Option<Result<Frame<Bytes>, axum::Error>>> {
    tokio::time::timeout(SILENCE_MAX, body.frame())
        .await
        .map_err(|_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not come to its end in time"))
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
    // Whoever is slower than this finds a closed connection; that is their answer.
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, reading).await;
}

pub(crate) fn too_large(bytes_max: u64) -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {bytes_max} bytes"))
}

async fn parse(text: String, format: Format) -> ApiResult<Document> {
    let is_long = text.len() > INLINE_BYTES_MAX;
    let read = move || {
        let parsed = parse_with(&text, format, &Options::default());
        (text, parsed)
    };
    let (text, Parsed { node, problems }) = if is_long {
        let reading = tokio::task::spawn_blocking(read).await;
        reading.map_err(|_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "reading the body failed"))?
    } else {
        read()
    };
    match node {
        Some(node) => Ok(Document { text, node, problems }),
        None => Err(ApiError::invalid(&problems)),
    }
}
