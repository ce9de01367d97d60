//! OpenTelemetry spans.
//!
//! Begin a [`TraceSpan`] with the [`Traceparent`] of its parent; dropping it ends it. Spans are queued and
//! exported in the background in batches over OTLP/HTTP. If the queue is full, spans are dropped; if the
//! collector is unavailable, one log line reports it. Callers never block. Without a configured collector,
//! spans are no-ops.
//!
//! A [`Tracer`] is a value, not a global, so that several servers in one process have separate tracers.

mod error;
mod exporter;
mod parent;
mod span;
mod tracer;

pub use error::TracerError;
pub use parent::Traceparent;
pub use span::{SpanKind, TraceSpan};
pub use tracer::Tracer;
