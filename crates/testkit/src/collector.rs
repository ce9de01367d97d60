//! An OpenTelemetry collector: accepts spans over OTLP/HTTP and stores them for assertions.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use parking_lot::Mutex;
use prost::Message as _;

/// A received span, with IDs in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedSpan {
    /// `service.name` of the resource.
    pub service: String,
    pub name: String,
    pub kind: SpanKind,
    pub trace: String,
    pub id: String,
    /// Empty for a root span.
    pub parent: String,
    pub is_error: bool,
    pub attributes: Vec<(String, String)>,
}

impl CollectedSpan {
    /// Returns the value of an attribute; empty if the span does not have it.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

/// Listens on a free port until the test ends.
pub struct Collector {
    pub url: String,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    spans: Vec<CollectedSpan>,
    /// Request line and headers of each request.
    heads: Vec<String>,
    /// Status codes of the next responses, in reverse order.
    refusals: Vec<u16>,
}

impl Collector {
    /// Starts a collector that responds to the first requests with these status codes and discards their
    /// spans.
    pub fn start(refusals: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("cannot listen on loopback");
        let url = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        let refusals = refusals.iter().rev().copied().collect();
        let received = Arc::new(Mutex::new(Received { refusals, ..Received::default() }));
        let shared = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that disconnects early belongs to a test that has ended.
                _ = handle_request(&stream, &shared);
            }
        });
        Self { url, received }
    }

    pub fn spans(&self) -> Vec<CollectedSpan> {
        self.received.lock().spans.clone()
    }

    /// Returns the request line and headers of each request.
    pub fn request_heads(&self) -> Vec<String> {
        self.received.lock().heads.clone()
    }
}

fn handle_request(stream: &TcpStream, received: &Mutex<Received>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let length = head.lines().filter_map(|line| line.split_once(':'));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.find_map(|(_, value)| value.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut received = received.lock();
    received.heads.push(head);
    let status = match received.refusals.pop() {
        Some(status) => status,
        None => match ExportTraceServiceRequest::decode(body.as_slice()) {
            Ok(request) => {
                received.spans.extend(spans_of(request));
                200
            }
            Err(_) => 400,
        },
    };
    drop(received);
    let mut writer = stream;
    write!(writer, "HTTP/1.1 {status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn spans_of(request: ExportTraceServiceRequest) -> Vec<CollectedSpan> {
    let mut collected = Vec::new();
    for spans in request.resource_spans {
        let attributes = pairs(spans.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = attributes.into_iter().find(|(name, _)| name == "service.name");
        let service = service.map(|(_, value)| value).unwrap_or_default();
        let spans = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
        collected.extend(spans.map(|span| convert(&service, span)));
    }
    collected
}

fn convert(service: &str, span: Span) -> CollectedSpan {
    CollectedSpan {
        service: service.to_owned(),
        kind: span.kind(),
        name: span.name,
        trace: hex::encode(&span.trace_id),
        id: hex::encode(&span.span_id),
        parent: hex::encode(&span.parent_span_id),
        is_error: span.status.is_some_and(|status| status.code() == StatusCode::Error),
        attributes: pairs(span.attributes),
    }
}

fn pairs(attributes: Vec<KeyValue>) -> Vec<(String, String)> {
    let text = |value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    attributes.into_iter().map(|pair| (pair.key, text(pair.value))).collect()
}
