//! In-process transport between server and agent.

use stoker_engine::session::{FromAgent, ToAgent};
use tokio::sync::mpsc;

use super::{Connecting, Connection, QUEUE, Transport, TransportError};

/// Agent side.
#[derive(Debug)]
pub struct ChannelTransport {
    connections: mpsc::UnboundedSender<ServerConnection>,
}

/// Server side of one connection.
#[derive(Debug)]
pub struct ServerConnection {
    pub send: mpsc::Sender<ToAgent>,
    pub receive: mpsc::Receiver<FromAgent>,
}

/// Creates both sides. The receiver yields the server side of each connection the agent opens.
pub fn channel_transport() -> (ChannelTransport, mpsc::UnboundedReceiver<ServerConnection>) {
    let (connections, received) = mpsc::unbounded_channel();
    (ChannelTransport { connections }, received)
}

impl Transport for ChannelTransport {
    fn connect(&mut self) -> Connecting<'_> {
        let (to_agent, receive) = mpsc::channel(QUEUE);
        let (send, from_agent) = mpsc::channel(QUEUE);
        let sent = self.connections.send(ServerConnection { send: to_agent, receive: from_agent });
        Box::pin(async move {
            sent.map_err(|_| TransportError::Closed("server shut down".to_owned()))?;
            Ok(Connection { send, receive })
        })
    }
}
