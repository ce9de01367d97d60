//! Receives messages from other servers, and polls the database for messages, live servers and agent
//! locations.

mod handle;
mod poll;

use std::time::Duration;

use stoker_bus::SubjectPattern;
use stoker_model::ErrorChain;
use stoker_services::background::TaskMonitor;

pub(crate) use poll::poll;

use self::handle::handle_message;
use crate::orchestrator::Orchestrator;
use crate::peers::{Envelope, Peers};

/// Delay before resubscribing.
const PAUSE: Duration = Duration::from_millis(500);

/// Handles messages from the bus. Never returns, unless there is no bus.
pub(crate) async fn listen(orchestrator: &Orchestrator, monitor: &TaskMonitor) {
    let Some((bus, seal)) = &orchestrator.peers.bus else { return };
    let owner = &orchestrator.context.owner;
    let Some(subject) = Peers::subject(owner) else { return };
    let pattern = SubjectPattern::from(subject);
    loop {
        monitor.start();
        match bus.subscribe(&pattern).await {
            Ok(mut messages) => {
                monitor.succeed();
                while let Some(message) = messages.next().await {
                    let Some(text) = seal.open(owner, &message.body) else {
                        tracing::warn!("rejected a message from an unauthenticated peer");
                        continue;
                    };
                    if let Some(envelope) = Envelope::decode(text) {
                        handle_message(orchestrator, envelope).await;
                    }
                }
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "cannot subscribe to messages of peers");
                monitor.fail(ErrorChain(&error).to_string());
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
