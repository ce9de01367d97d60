//! Transport that prefers NATS and falls back to a direct connection to the server.

use std::sync::Arc;
use std::time::Duration;

use stoker_model::ErrorChain;
use tokio::sync::{Mutex, mpsc};

use super::nats::NatsTransport;
use super::{Connecting, Connection, QUEUE, Transport, TransportError};
use crate::backoff::{Backoff, BackoffLimits};
use crate::result_queue::ResultQueue;

/// Backoff between attempts to return to NATS.
const RETURN_BACKOFF: BackoffLimits =
    BackoffLimits { min: Duration::from_secs(5), max: Duration::from_mins(5) };

/// Falls back to `direct` while NATS is unavailable and keeps retrying NATS. It switches back without an
/// interruption: the NATS connection is open before the direct connection is closed.
pub struct NatsFirst<T> {
    nats: Arc<Mutex<NatsTransport>>,
    result_queue: ResultQueue,
    direct: T,
    reconnected: (mpsc::Sender<Connection>, mpsc::Receiver<Connection>),
}

impl<T: Transport> NatsFirst<T> {
    pub fn new(nats: NatsTransport, direct: T) -> Self {
        let result_queue = nats.results();
        Self { nats: Arc::new(Mutex::new(nats)), result_queue, direct, reconnected: mpsc::channel(1) }
    }

    async fn open(&mut self) -> Result<Connection, TransportError> {
        if let Ok(connection) = self.reconnected.1.try_recv() {
            return Ok(connection);
        }
        match self.nats.lock().await.open().await {
            Ok(connection) => {
                tracing::info!("connected through NATS");
                return Ok(connection);
            }
            Err(error) => {
                tracing::info!(error = %ErrorChain(&error), "NATS unavailable; connecting directly to the server");
            }
        }
        let direct = self.direct.connect().await?;
        let (send, sending) = mpsc::channel(QUEUE);
        let (received, receive) = mpsc::channel(QUEUE);
        tokio::spawn(forward_until_nats_returns(
            direct,
            received,
            sending,
            Arc::clone(&self.nats),
            self.reconnected.0.clone(),
        ));
        Ok(Connection { send, receive })
    }
}

impl<T: Transport> Transport for NatsFirst<T> {
    fn connect(&mut self) -> Connecting<'_> {
        Box::pin(self.open())
    }

    /// Returns the queue of results. Results are published over NATS also while the session uses the direct
    /// connection.
    fn result_queue(&self) -> Option<ResultQueue> {
        Some(self.result_queue.clone())
    }
}

/// Forwards messages until the direct connection ends or a NATS connection is open.
async fn forward_until_nats_returns(
    mut direct: Connection,
    received: mpsc::Sender<stoker_engine::session::ToAgent>,
    mut sending: mpsc::Receiver<stoker_engine::session::FromAgent>,
    nats: Arc<Mutex<NatsTransport>>,
    reconnected: mpsc::Sender<Connection>,
) {
    let inbound = async {
        while let Some(message) = direct.receive.recv().await {
            if received.send(message).await.is_err() {
                return;
            }
        }
    };
    let outbound = async {
        while let Some(message) = sending.recv().await {
            if direct.send.send(message).await.is_err() {
                return;
            }
        }
    };
    let nats_connection = async {
        let mut backoff = Backoff::new(RETURN_BACKOFF);
        loop {
            tokio::time::sleep(backoff.next()).await;
            if let Ok(connection) = nats.lock().await.open().await {
                return connection;
            }
        }
    };
    tokio::select! {
        () = inbound => {}
        () = outbound => {}
        connection = nats_connection => {
            tracing::info!("NATS available again; switching to it");
            // Capacity 1 suffices: only one task retries NATS at a time.
            _ = reconnected.try_send(connection);
        }
    }
}
