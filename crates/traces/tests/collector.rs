//! Spans as received by a collector.
#![expect(clippy::disallowed_methods, reason = "tests look at the clock")]

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use stoker_settings::{Sampling, Secret, Traces};
use stoker_testkit::Collector;
use stoker_traces::{SpanKind, TraceSpan, Traceparent, Tracer};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

fn settings(url: &str) -> Traces {
    Traces {
        endpoint: format!("{url}/v1/traces"),
        headers: vec![("api-key".to_owned(), Secret::new("opensesame".to_owned()))],
        timeout: Duration::from_secs(5),
        ca_file: None,
        resource: vec![("service.name".to_owned(), "test".to_owned())],
        sampling: Sampling { ratio: 1.0, follows_parent: true },
    }
}

#[test]
fn parent_and_child_spans_are_exported() {
    // The collector is overloaded at first; the batch is retried.
    let collector = Collector::start(&[503]);
    let tracer = Tracer::start(&settings(&collector.url)).unwrap();
    let parent = Traceparent::parse(&format!("{PARENT}-01"));
    let mut outer = tracer.begin(SpanKind::Server, "outer", parent);
    let inner = tracer.begin(SpanKind::Internal, "inner", outer.context());
    assert_eq!(inner.context().unwrap().id(), parent.unwrap().id());
    outer.set_attribute("number", 7);
    outer.fail("broken");
    drop(inner);
    drop(outer);
    tracer.shutdown();
    let [inner, outer] = &collector.spans()[..] else { panic!("{:?}", collector.spans()) };
    assert_eq!((inner.name.as_str(), outer.name.as_str()), ("inner", "outer"));
    assert_eq!((&inner.parent, outer.parent.as_str()), (&outer.id, "00f067aa0ba902b7"));
    assert_eq!((outer.service.as_str(), outer.attribute("number"), outer.is_error), ("test", "7", true));
    assert_eq!((&inner.trace, inner.is_error), (&outer.trace, false));
    let heads = collector.request_heads();
    assert_eq!(heads.len(), 2);
    assert!(heads[1].contains("opensesame") && heads[1].contains("content-type: application/x-protobuf"));
    // After shutdown no span is recorded.
    assert_eq!(tracer.begin(SpanKind::Internal, "late", None).context(), None);
}

#[test]
fn sampling_follows_the_parent() {
    let cases = [
        (1.0, true, Some("01"), true),
        (1.0, true, Some("00"), false),
        (0.0, true, Some("01"), true),
        (0.0, true, None, false),
        (1.0, true, None, true),
        (1.0, false, Some("00"), true),
        (0.0, false, Some("01"), false),
    ];
    for case in cases {
        let (ratio, follows_parent, flags, is_sampled) = case;
        let collector = Collector::start(&[]);
        let sampling = Sampling { ratio, follows_parent };
        let tracer = Tracer::start(&Traces { sampling, ..settings(&collector.url) }).unwrap();
        let under = flags.and_then(|flags| Traceparent::parse(&format!("{PARENT}-{flags}")));
        let span = tracer.begin(SpanKind::Internal, "one", under);
        // An unsampled span has an id too, and propagates the unsampled flag.
        let traceparent = span.context().unwrap().to_string();
        assert_eq!(traceparent.ends_with("-01"), is_sampled, "{case:?}");
        drop(span);
        tracer.shutdown();
        assert_eq!(collector.spans().len(), usize::from(is_sampled), "{case:?}");
    }
}

#[test]
fn spans_are_noops_without_collector() {
    let tracer = Tracer::default();
    let mut span = tracer.begin(SpanKind::Server, "x", Traceparent::parse(&format!("{PARENT}-01")));
    span.set_attribute("a", "b");
    span.fail("c");
    assert!(!tracer.is_enabled() && span.context().is_none() && TraceSpan::default().context().is_none());
    tracer.shutdown();
}

/// A log writer that captures its output.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn unreachable_collector_blocks_nothing() {
    let lines = Lines::default();
    let writer = lines.clone();
    // Global, because batches are sent on a separate thread. No other test of this binary logs.
    let logs = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
    logs.try_init().unwrap();
    // A port without a listener.
    let tracer = Tracer::start(&settings("http://127.0.0.1:9")).unwrap();
    let began = Instant::now();
    // More spans than the queue capacity.
    for _ in 0..20_000 {
        drop(tracer.begin(SpanKind::Internal, "one", None));
    }
    tracer.shutdown();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let log = String::from_utf8(lines.0.lock().clone()).unwrap();
    assert_eq!(log.matches("does not accept traces").count(), 1, "{log}");
    assert!(!log.contains("opensesame"));
}
