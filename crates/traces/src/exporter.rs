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
use stoker_client::{HttpPoster, PostError};
use stoker_model::ErrorChain;
use stoker_settings::Traces;
use thiserror::Error;
use tokio::runtime::Runtime;

use crate::error::TracerError;

/// Maximum number of attempts if the collector is overloaded.
const ATTEMPTS_MAX: u32 = 3;
/// Backoff before the first retry; doubled before the second.
const BACKOFF_MIN: Duration = Duration::from_millis(500);

/// Error while exporting a batch of spans; the batch is lost.
#[derive(Debug, Error)]
enum ExportError {
    #[error("HTTP status {0}")]
    Status(u16),
    #[error(transparent)]
    Post(#[from] PostError),
}

/// Posts OTLP protobuf on the batch processor's thread.
pub(crate) struct Exporter {
    messenger: HttpPoster,
    /// Drives requests on that thread. The runtime of the process may have stopped when the last batch is exported.
    runtime: Runtime,
    url: String,
    headers: Vec<(String, String)>,
    resource: ResourceAttributesWithSchema,
    /// Whether the last batch was lost, to log only transitions.
    is_failing: AtomicBool,
}

impl Exporter {
    pub(crate) fn new(settings: &Traces) -> Result<Self, TracerError> {
        let configured =
            settings.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        let headers = configured.chain([("content-type".to_owned(), "application/x-protobuf".to_owned())]);
        Ok(Self {
            messenger: HttpPoster::with_ca_file(settings.timeout, settings.ca_file.as_deref())?,
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(TracerError::Runtime)?,
            url: settings.endpoint.clone(),
            headers: headers.collect(),
            resource: ResourceAttributesWithSchema::default(),
            is_failing: AtomicBool::new(false),
        })
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), ExportError> {
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let mut backoff = BACKOFF_MIN;
        for _ in 1..ATTEMPTS_MAX {
            match self.messenger.post(&self.url, &headers, body.clone()).await?.as_u16() {
                // The collector is reachable but overloaded.
                429 | 502..=504 => tokio::time::sleep(backoff).await,
                status => return check_status(status),
            }
            backoff *= 2;
        }
        check_status(self.messenger.post(&self.url, &headers, body).await?.as_u16())
    }

    /// Logs when spans start to be lost, and when export recovers.
    fn log_transition(&self, sent: &Result<(), ExportError>, n_spans: usize) {
        let was_failing = self.is_failing.swap(sent.is_err(), Ordering::Relaxed);
        match sent {
            Err(error) if !was_failing => {
                tracing::warn!(
                    error = %ErrorChain(error),
                    n_spans,
                    "the collector does not accept traces; spans are dropped until it does"
                );
            }
            Ok(()) if was_failing => tracing::info!("the collector accepts traces again"),
            _ => {}
        }
    }
}

fn check_status(status: u16) -> Result<(), ExportError> {
    if (200..300).contains(&status) { Ok(()) } else { Err(ExportError::Status(status)) }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let n_spans = batch.len();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        let sent = self.runtime.block_on(self.send(body));
        self.log_transition(&sent, n_spans);
        sent.map_err(|error| OTelSdkError::InternalFailure(ErrorChain(&error).to_string()))
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
