//! Through NATS as long as that works, else straight to the server, and back.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};

use super::nats::NatsTransport;
use super::{Connecting, Connection, QUEUE, Transport, TransportError};
use crate::backoff::Backoff;
use crate::keeping::Keeping;

/// Pauses between attempts to get back to NATS.
const BACK: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(5));

/// Takes the second way where the first does not work. While it does so it tries the first again, and changes over
/// without a pause: the next connection stands before the last one is left.
pub struct NatsFirst<T> {
    nats: Arc<Mutex<NatsTransport>>,
    keeping: Keeping,
    straight: T,
    found: (mpsc::Sender<Connection>, mpsc::Receiver<Connection>),
}

impl<T: Transport> NatsFirst<T> {
    pub fn new(nats: NatsTransport, straight: T) -> Self {
        let keeping = nats.keeping();
        Self { nats: Arc::new(Mutex::new(nats)), keeping, straight, found: mpsc::channel(1) }
    }

    async fn open(&mut self) -> Result<Connection, TransportError> {
        if let Ok(connection) = self.found.1.try_recv() {
            return Ok(connection);
        }
        let why = match self.nats.lock().await.open().await {
            Ok(connection) => {
                tracing::info!("through NATS");
                return Ok(connection);
            }
            Err(error) => error.to_string(),
        };
        tracing::info!(why, "not through NATS but straight to the server");
        let straight = self.straight.connect().await?;
        let (send, sending) = mpsc::channel(QUEUE);
        let (received, receive) = mpsc::channel(QUEUE);
        tokio::spawn(until_back(straight, received, sending, Arc::clone(&self.nats), self.found.0.clone()));
        Ok(Connection { send, receive })
    }
}

impl<T: Transport> Transport for NatsFirst<T> {
    fn connect(&mut self) -> Connecting<'_> {
        Box::pin(self.open())
    }

    /// Also while the conversation goes another way.
    fn keeping(&self) -> Option<Keeping> {
        Some(self.keeping.clone())
    }
}

/// Passes messages on until the connection is over, or there is one through NATS.
async fn until_back(
    mut straight: Connection,
    received: mpsc::Sender<stoker_engine::session::ToAgent>,
    mut sending: mpsc::Receiver<stoker_engine::session::FromAgent>,
    nats: Arc<Mutex<NatsTransport>>,
    found: mpsc::Sender<Connection>,
) {
    let into = async {
        while let Some(message) = straight.receive.recv().await {
            if received.send(message).await.is_err() {
                return;
            }
        }
    };
    let from = async {
        while let Some(message) = sending.recv().await {
            if straight.send.send(message).await.is_err() {
                return;
            }
        }
    };
    let back = async {
        let mut backoff = Backoff::new(BACK);
        loop {
            tokio::time::sleep(backoff.next()).await;
            if let Ok(connection) = nats.lock().await.open().await {
                return connection;
            }
        }
    };
    tokio::select! {
        () = into => {}
        () = from => {}
        connection = back => {
            tracing::info!("NATS is back");
            // Nobody else finds one while this connection lives, so there is room.
            _ = found.try_send(connection);
        }
    }
}
