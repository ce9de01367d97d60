//! Span creation and shutdown.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::{SpanBuilder, TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider};
use stoker_settings::{Sampling, Traces};

use crate::error::TracerError;
use crate::exporter::Exporter;
use crate::{SpanKind, TraceSpan, Traceparent};

/// Time limit for exporting the queue on shutdown.
const END_TIME_MAX: Duration = Duration::from_secs(3);

/// Creates spans; the default value creates no-op spans. Clones share the exporter.
#[derive(Clone, Debug, Default)]
pub struct Tracer(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Tracer {
    /// Starts the background exporter. Connection errors are reported there.
    pub fn start(settings: &Traces) -> Result<Self, TracerError> {
        let processor = BatchSpanProcessor::builder(Exporter::new(settings)?).build();
        let attributes =
            settings.resource.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
        let resource = Resource::builder_empty().with_attributes(attributes).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(sampler(settings.sampling))
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("stoker");
        Ok(Self(Some(Arc::new(Inner { provider, tracer }))))
    }

    /// Begins a span, as a child of `under` or as the root of a new trace.
    pub fn begin(
        &self,
        kind: SpanKind,
        name: impl Into<Cow<'static, str>>,
        under: Option<Traceparent>,
    ) -> TraceSpan {
        let Some(inner) = &self.0 else { return TraceSpan::default() };
        let context = Context::new();
        let context = match under {
            Some(parent) => context.with_remote_span_context(parent.context()),
            None => context,
        };
        let builder = SpanBuilder::from_name(name).with_kind(kind.into());
        TraceSpan::new(inner.tracer.build_with_context(builder, &context))
    }

    /// Reports whether spans are exported.
    pub fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Exports the queue and stops. Blocks for at most a few seconds.
    pub fn shutdown(&self) {
        if let Some(inner) = &self.0 {
            // The exporter has logged failures.
            _ = inner.provider.shutdown_with_timeout(END_TIME_MAX);
        }
    }
}

fn sampler(sampling: Sampling) -> Sampler {
    let Sampling { ratio, follows_parent } = sampling;
    let own = match ratio {
        ratio if ratio >= 1.0 => Sampler::AlwaysOn,
        ratio if ratio <= 0.0 => Sampler::AlwaysOff,
        ratio => Sampler::TraceIdRatioBased(ratio),
    };
    if follows_parent { Sampler::ParentBased(Box::new(own)) } else { own }
}
