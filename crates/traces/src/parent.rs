//! Trace propagation between processes: `traceparent` of W3C Trace Context.

use std::fmt;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// Trace id and parent span id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traceparent {
    trace: u128,
    span: u64,
    flags: u8,
}

impl Traceparent {
    /// Creates a sampled trace context; `None` if an id is zero, which is invalid.
    pub fn new(trace: u128, span: u64) -> Option<Self> {
        (trace != 0 && span != 0).then_some(Self { trace, span, flags: TraceFlags::SAMPLED.to_u8() })
    }

    /// Parses `00-<32 digits>-<16 digits>-<2 digits>`. Invalid input is ignored, as the specification
    /// requires.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = digits(parts.next()?, 2)?;
        let trace = u128::from_str_radix(digits(parts.next()?, 32)?, 16).ok()?;
        let span = u64::from_str_radix(digits(parts.next()?, 16)?, 16).ok()?;
        let flags = u8::from_str_radix(digits(parts.next()?, 2)?, 16).ok()?;
        // Later versions may append fields; version 00 has none.
        let is_complete = version != "ff" && (version != "00" || parts.next().is_none());
        (is_complete && trace != 0 && span != 0).then_some(Self { trace, span, flags })
    }

    /// Returns the trace id in hexadecimal, as logged.
    pub fn id(&self) -> String {
        format!("{:032x}", self.trace)
    }

    pub(crate) fn of(context: &SpanContext) -> Option<Self> {
        context.is_valid().then(|| Self {
            trace: u128::from_be_bytes(context.trace_id().to_bytes()),
            span: u64::from_be_bytes(context.span_id().to_bytes()),
            flags: context.trace_flags().to_u8(),
        })
    }

    pub(crate) fn context(self) -> SpanContext {
        SpanContext::new(
            TraceId::from_bytes(self.trace.to_be_bytes()),
            SpanId::from_bytes(self.span.to_be_bytes()),
            TraceFlags::new(self.flags),
            true,
            TraceState::default(),
        )
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

fn digits(text: &str, n_digits: usize) -> Option<&str> {
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (text.len() == n_digits && is_hex).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn traceparent_round_trips() {
        let parsed = Traceparent::parse(TRACEPARENT).unwrap();
        assert_eq!(parsed.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parsed.to_string(), TRACEPARENT);
        assert_eq!(Traceparent::of(&parsed.context()), Some(parsed));
        let later = TRACEPARENT.replacen("00-", "01-", 1) + "-more";
        assert!(Traceparent::parse(&later).is_some());
    }

    #[test]
    fn invalid_traceparent_is_ignored() {
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        ] {
            assert_eq!(Traceparent::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Traceparent::new(0, 1), None);
        assert_eq!(Traceparent::new(1, 0), None);
        let new = Traceparent::new(1, 2).unwrap();
        assert_eq!(Traceparent::parse(&new.to_string()), Some(new));
    }
}
