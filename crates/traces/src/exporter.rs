//! Batches of spans on their way to the collector.

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
use stoker_client::{ClientError, Messenger};
use stoker_settings::Traces;

/// How often a batch is sent that the collector had no time for.
const TRIES: u32 = 3;
/// Before the second time; longer before the third.
const PAUSE: Duration = Duration::from_millis(500);

/// Posts protobuf, on the thread that the queue is emptied on.
pub(crate) struct Exporter {
    messenger: Messenger,
    url: String,
    headers: Vec<(String, String)>,
    resource: ResourceAttributesWithSchema,
    /// Whether the last batch was lost: one line is enough for all that follow.
    is_losing: AtomicBool,
}

impl Exporter {
    pub(crate) fn new(settings: &Traces) -> Result<Self, ClientError> {
        let said = settings.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        let headers = said.chain([("content-type".to_owned(), "application/x-protobuf".to_owned())]);
        Ok(Self {
            messenger: Messenger::trusting(settings.time_max, settings.ca_file.as_deref())?,
            url: settings.endpoint.clone(),
            headers: headers.collect(),
            resource: ResourceAttributesWithSchema::default(),
            is_losing: AtomicBool::new(false),
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the thread has nothing else to do, and ends with the program"
    )]
    fn send(&self, body: &[u8]) -> Result<(), String> {
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.messenger.post(&self.url, &headers, body) {
                // It is there and has too much to do.
                Ok(429 | 502..=504) => std::thread::sleep(pause),
                other => return judged(other),
            }
            pause *= 2;
        }
        judged(self.messenger.post(&self.url, &headers, body))
    }

    /// Says when spans begin to be lost, and when that is over.
    fn tell(&self, sent: &Result<(), String>, n_spans: usize) {
        let was_losing = self.is_losing.swap(sent.is_err(), Ordering::Relaxed);
        match sent {
            Err(why) if !was_losing => {
                tracing::warn!(
                    why,
                    n_spans,
                    "the collector does not take traces; they are lost until it does"
                );
            }
            Ok(()) if was_losing => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

fn judged(answer: Result<u16, ClientError>) -> Result<(), String> {
    match answer {
        Ok(200..=299) => Ok(()),
        Ok(status) => Err(format!("it answers {status}")),
        Err(error) => Err(error.to_string()),
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let n_spans = batch.len();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let sent = self.send(&ExportTraceServiceRequest { resource_spans }.encode_to_vec());
        self.tell(&sent, n_spans);
        sent.map_err(OTelSdkError::InternalFailure)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may be secret.
        f.debug_struct("Exporter").field("url", &self.url).finish_non_exhaustive()
    }
}
