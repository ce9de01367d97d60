//! Export of span batches to the collector.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message as _;
use stoker_client::{ClientError, HttpPoster};
use stoker_settings::Traces;

/// Maximum number of attempts if the collector is overloaded.
const ATTEMPTS_MAX: u32 = 3;
/// Backoff before the first retry; doubled before the second.
const BACKOFF_MIN: Duration = Duration::from_millis(500);

/// Posts OTLP protobuf on the batch processor's thread.
pub(crate) struct Exporter {
    messenger: HttpPoster,
    url: String,
    headers: Vec<(String, String)>,
    resource: ResourceAttributesWithSchema,
    /// Whether the last batch was lost, to log only transitions.
    is_failing: AtomicBool,
}

impl Exporter {
    pub(crate) fn new(settings: &Traces) -> Result<Self, ClientError> {
        let configured =
            settings.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        let headers = configured.chain([("content-type".to_owned(), "application/x-protobuf".to_owned())]);
        Ok(Self {
            messenger: HttpPoster::with_ca_file(settings.timeout, settings.ca_file.as_deref())?,
            url: settings.endpoint.clone(),
            headers: headers.collect(),
            resource: ResourceAttributesWithSchema::default(),
            is_failing: AtomicBool::new(false),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the thread has nothing else to do and ends with the process"
    )]
    fn send(&self, body: &[u8]) -> Result<(), String> {
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let mut backoff = BACKOFF_MIN;
        for _ in 1..ATTEMPTS_MAX {
            match self.messenger.post(&self.url, &headers, body) {
                // The collector is reachable but overloaded.
                Ok(429 | 502..=504) => std::thread::sleep(backoff),
                other => return check_status(other),
            }
            backoff *= 2;
        }
        check_status(self.messenger.post(&self.url, &headers, body))
    }

    /// Logs when spans start to be lost, and when export recovers.
    fn log_transition(&self, sent: &Result<(), String>, n_spans: usize) {
        let was_failing = self.is_failing.swap(sent.is_err(), Ordering::Relaxed);
        match sent {
            Err(why) if !was_failing => {
                tracing::warn!(
                    why,
                    n_spans,
                    "the collector does not accept traces; spans are dropped until it does"
                );
            }
            Ok(()) if was_failing => tracing::info!("the collector accepts traces again"),
            _ => {}
        }
    }
}

fn check_status(answer: Result<u16, ClientError>) -> Result<(), String> {
    match answer {
        Ok(200..=299) => Ok(()),
        Ok(status) => Err(format!("HTTP status {status}")),
        Err(error) => Err(error.to_string()),
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let n_spans = batch.len();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let sent = self.send(&ExportTraceServiceRequest { resource_spans }.encode_to_vec());
        self.log_transition(&sent, n_spans);
        sent.map_err(OTelSdkError::InternalFailure)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may contain secrets.
        f.debug_struct("Exporter").field("url", &self.url).finish_non_exhaustive()
    }
}
