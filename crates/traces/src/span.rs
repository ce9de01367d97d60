//! Spans: attributes, status, and export when they end.

use opentelemetry::trace::{self, Span as _, Status};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::Traceparent;

/// Span kind of OpenTelemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Handles a request whose caller waits.
    Server,
    Internal,
    /// Sends work to another process without waiting.
    Producer,
    /// Handles work sent by a producer.
    Consumer,
}

impl From<SpanKind> for trace::SpanKind {
    fn from(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Server => Self::Server,
            SpanKind::Internal => Self::Internal,
            SpanKind::Producer => Self::Producer,
            SpanKind::Consumer => Self::Consumer,
        }
    }
}

/// A span that ends when it is dropped; a no-op without a collector.
#[derive(Debug, Default)]
pub struct TraceSpan(Option<SdkSpan>);

impl TraceSpan {
    pub(crate) fn new(span: SdkSpan) -> Self {
        Self(Some(span))
    }

    /// Returns the context to propagate to child spans.
    pub fn context(&self) -> Option<Traceparent> {
        Traceparent::of(self.0.as_ref()?.span_context())
    }

    /// Sets an attribute. It must not contain secrets or free text of users.
    pub fn set_attribute(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new(name, value));
        }
    }

    /// Marks the span as failed. `cause` must be constant for each class of failure, so that failures can be
    /// grouped.
    pub fn fail(&mut self, cause: &'static str) {
        if let Some(span) = &mut self.0 {
            span.set_status(Status::error(cause));
        }
    }
}
