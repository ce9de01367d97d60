//! Server and agent in one process.

use stoker_engine::session::{FromAgent, ToAgent};
use tokio::sync::mpsc;

use super::{Connecting, Connection, QUEUE, Transport, TransportError};

/// The agent's end.
#[derive(Debug)]
pub struct ChannelTransport {
    connections: mpsc::UnboundedSender<ServerConnection>,
}

/// The server's end of one connection.
#[derive(Debug)]
pub struct ServerConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
}

/// Both ends. The server gets each connection the agent makes.
pub fn pair() -> (ChannelTransport, mpsc::UnboundedReceiver<ServerConnection>) {
    let (connections, received) = mpsc::unbounded_channel();
    (ChannelTransport { connections }, received)
}

impl Transport for ChannelTransport {
    fn connect(&mut self) -> Connecting<'_> {
        let (to_agent, receive) = mpsc::channel(QUEUE);
        let (send, from_agent) = mpsc::channel(QUEUE);
        let offered = self.connections.send(ServerConnection { send: to_agent, receive: from_agent });
        Box::pin(async move {
            offered.map_err(|_| TransportError::Over("the server is gone".to_owned()))?;
            Ok(Connection { send, receive })
        })
    }
}
