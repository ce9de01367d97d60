//! Spans: what was done when, as a part of what, told to a collector of OpenTelemetry.
//!
//! Whoever does something begins a [`Span`] under the [`Traceparent`] of whatever it is a part of; dropping it ends it. Spans
//! go into a queue that is emptied in the background, in batches and over OTLP/HTTP. A queue that is full loses spans,
//! and a collector that is away costs a line in the log: nobody ever waits. Where no collector was named, spans are nothing.
//!
//! A [`Tracer`] is a value, not a global: several servers in one process have one each.

mod exporter;
mod parent;
mod span;
mod tracer;

pub use parent::Traceparent;
pub use span::{Kind, Span};
pub use tracer::Tracer;
