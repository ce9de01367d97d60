//! A collector of OpenTelemetry: takes spans over OTLP/HTTP and remembers them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;

/// A span, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Whose it is.
    pub service: String,
    pub name: String,
    pub kind: SpanKind,
    pub trace: String,
    pub id: String,
    /// Empty where it has none.
    pub parent: String,
    pub has_failed: bool,
    pub attributes: Vec<(String, String)>,
}

impl Collected {
    /// What is said of it; empty where nothing is.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// Listens on a port of its own until the test ends.
pub struct Collector {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    spans: Vec<Collected>,
    /// The first line and the headers of each request.
    heads: Vec<String>,
    /// How the next ones are answered.
    refusals: Vec<u16>,
}

impl Collector {
    /// The first requests are answered with these.
    pub fn start(refusals: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let refusals = refusals.iter().rev().copied().collect();
        let seen = Arc::new(Mutex::new(Seen { refusals, ..Seen::default() }));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever hangs up in the middle is a test that has ended.
                _ = answer(&stream, &shared);
            }
        });
        Self { url, seen }
    }

    pub fn spans(&self) -> Vec<Collected> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).spans.clone()
    }

    /// What came before the body of each request.
    pub fn heads(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).heads.clone()
    }
}

fn answer(stream: &TcpStream, seen: &Mutex<Seen>) -> std::io::Result<()> {
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
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.heads.push(head);
    let status = match seen.refusals.pop() {
        Some(status) => status,
        None => match ExportTraceServiceRequest::decode(body.as_slice()) {
            Ok(request) => {
                seen.spans.extend(collected(request));
                200
            }
            Err(_) => 400,
        },
    };
    drop(seen);
    let mut writer = stream;
    write!(writer, "HTTP/1.1 {status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn collected(request: ExportTraceServiceRequest) -> Vec<Collected> {
    let mut all = Vec::new();
    for spans in request.resource_spans {
        let said = pairs(spans.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = said.into_iter().find(|(name, _)| name == "service.name");
        let service = service.map(|(_, value)| value).unwrap_or_default();
        let spans = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
        all.extend(spans.map(|span| one(&service, span)));
    }
    all
}

fn one(service: &str, span: Span) -> Collected {
    Collected {
        service: service.to_owned(),
        kind: span.kind(),
        name: span.name,
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        has_failed: span.status.is_some_and(|status| status.code() == StatusCode::Error),
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

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
