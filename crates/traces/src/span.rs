//! One thing that is done.

use opentelemetry::trace::{Span as _, SpanKind, Status};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::Traceparent;

/// On which side of a message it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody asked and waits.
    Server,
    Internal,
    /// Somebody else was told to do it.
    Producer,
    /// Somebody else told us to do it.
    Consumer,
}

impl From<Kind> for SpanKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Server => Self::Server,
            Kind::Internal => Self::Internal,
            Kind::Producer => Self::Producer,
            Kind::Consumer => Self::Consumer,
        }
    }
}

/// What is done from here to where this is dropped; nothing where nobody collects.
#[derive(Debug, Default)]
pub struct Span(Option<SdkSpan>);

impl Span {
    pub(crate) fn new(span: SdkSpan) -> Self {
        Self(Some(span))
    }

    /// What belongs under it says so with this.
    pub fn context(&self) -> Option<Traceparent> {
        Traceparent::of(self.0.as_ref()?.span_context())
    }

    /// Says something about it. Nothing secret, and nothing that a user wrote freely.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new(name, value));
        }
    }

    /// It did not succeed, in a word that is always the same for the same cause.
    pub fn fail(&mut self, cause: &'static str) {
        if let Some(span) = &mut self.0 {
            span.set_status(Status::error(cause));
        }
    }
}
