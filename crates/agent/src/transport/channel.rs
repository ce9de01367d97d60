//! In-process transport between server and agent.

use stoker_engine::session::{FromAgent, ToAgent};
use tokio::sync::mpsc;

use super::{Connecting, Connection, QUEUE, Transport, TransportError};

/// Agent side.
#[derive(Debug)]
pub struct ChannelTransport {
    connections: mpsc::Sender<ServerConnection>,
}

/// Capacity of the channel of connections. An agent has one connection at a time; until the server receives
/// it, the next connection waits in `connect`.
const CONNECTIONS_MAX: usize = 1;

/// Server side of one connection.
#[derive(Debug)]
pub struct ServerConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
}

/// Creates both sides. The receiver yields the server side of each connection the agent opens.
pub fn channel_transport() -> (ChannelTransport, mpsc::Receiver<ServerConnection>) {
    let (connections, received) = mpsc::channel(CONNECTIONS_MAX);
    (ChannelTransport { connections }, received)
}

impl Transport for ChannelTransport {
    fn connect(&mut self) -> Connecting<'_> {
        let (to_agent, receive) = mpsc::channel(QUEUE);
        let (send, from_agent) = mpsc::channel(QUEUE);
        Box::pin(async move {
            let connection = ServerConnection { send: to_agent, receive: from_agent };
            let sent = self.connections.send(connection).await;
            sent.map_err(|_| TransportError::Closed("server shut down"))?;
            Ok(Connection { send, receive })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn second_connection_waits_for_the_first_to_be_taken() {
        let (mut transport, mut connections) = channel_transport();
        let first = transport.connect().await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_millis(20), transport.connect()).await;
        assert!(waiting.is_err(), "the server has not taken the first one");
        // The first connection is intact, and no message of the abandoned connection remains.
        let mut taken = connections.recv().await.unwrap();
        first.send.send(FromAgent::Heartbeat).await.unwrap();
        assert_eq!(taken.receive.recv().await, Some(FromAgent::Heartbeat));
        assert!(connections.try_recv().is_err());
        transport.connect().await.unwrap();
        drop(connections);
        assert!(matches!(transport.connect().await, Err(TransportError::Closed(_))));
    }
}
