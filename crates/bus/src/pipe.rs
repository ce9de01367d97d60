//! An ordered, reliable connection over a bus that may lose messages: everything arrives in order, or the
//! connection breaks.
//!
//! Each piece is numbered, so a gap is detected; each side periodically reports how many pieces it sent and
//! received, so the loss of the last piece is detected too. The number of unacknowledged pieces is bounded
//! (back-pressure). Either side breaks the connection after a silence timeout. To continue, open a new pipe
//! and resend what matters.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::bus::Bus;
use crate::error::BusError;
use crate::subject::Subject;
use crate::subscription::Subscription;

/// Maximum payload of a piece. Fits into any bus message together with its header.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of unacknowledged pieces. Must not exceed the number of messages that the bus buffers for a
/// subscriber.
const WINDOW: u64 = 64;
/// Number of received pieces after which an acknowledgement is sent.
const ACK_EVERY: u64 = WINDOW / 4;
const HEADER_BYTES: usize = 17;

#[derive(Clone, Copy, Debug)]
pub struct PipeSettings {
    pub ping_interval: Duration,
    /// Maximum time without a message before the connection breaks.
    pub silence_timeout: Duration,
    /// Maximum size of a received message.
    pub bytes_max: usize,
}

/// One end of a connection.
pub struct Pipe {
    bus: Bus,
    to: Subject,
    /// Subject that this end subscribes to.
    here: Subject,
    from: Subscription,
    settings: PipeSettings,
    n_sent: u64,
    /// Pieces acknowledged by the peer.
    n_acked: u64,
    n_received: u64,
    n_received_acked: u64,
    last_heard: Instant,
    /// Incomplete incoming message.
    partial: Vec<u8>,
    /// Complete incoming message that has not been delivered yet.
    complete: Option<Vec<u8>>,
    /// Outgoing message, and the number of bytes already sent.
    outgoing: Option<(Vec<u8>, usize)>,
}

/// Reason for the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipeClosed {
    /// Closed by this end.
    Local,
    /// Closed by the peer.
    Peer,
    /// A message was lost, or the silence timeout expired.
    Broken(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameType {
    Open = 1,
    Part = 2,
    Last = 3,
    Ping = 4,
    Bye = 5,
}

struct Frame<'a> {
    kind: FrameType,
    n_sent: u64,
    n_received: u64,
    body: &'a [u8],
}

impl Pipe {
    /// Accepts a connection from a peer that already subscribes to `to`.
    pub async fn accept(
        bus: Bus,
        to: Subject,
        here: Subject,
        settings: PipeSettings,
    ) -> Result<Self, BusError> {
        let from = bus.subscribe(&here.clone().into()).await?;
        let mut pipe = Self::new(bus, to, here, from, settings);
        pipe.publish(FrameType::Open, &[]).await?;
        Ok(pipe)
    }

    /// Subscribes to `here`, sends `word` to `door` and waits for an answer. Returns `None` if there was none
    /// in time.
    pub async fn connect(
        bus: Bus,
        door: &Subject,
        word: Vec<u8>,
        to: Subject,
        here: Subject,
        settings: PipeSettings,
        time_max: Duration,
    ) -> Result<Option<Self>, BusError> {
        let from = bus.subscribe(&here.clone().into()).await?;
        bus.publish_with_no_subscriber_reply(door, word, Some(&here)).await?;
        let mut pipe = Self::new(bus, to, here, from, settings);
        let waiting = async {
            let first = pipe.from.next().await;
            // An empty message: there is no subscriber at `door`.
            first.is_some_and(|first| {
                Frame::read(&first.body).is_some_and(|frame| frame.kind == FrameType::Open)
            })
        };
        let is_open = tokio::time::timeout(time_max, waiting).await.unwrap_or(false);
        pipe.last_heard = Instant::now();
        Ok(is_open.then_some(pipe))
    }

    fn new(bus: Bus, to: Subject, here: Subject, from: Subscription, settings: PipeSettings) -> Self {
        Self {
            bus,
            to,
            here,
            from,
            settings,
            n_sent: 0,
            n_acked: 0,
            n_received: 0,
            n_received_acked: 0,
            last_heard: Instant::now(),
            partial: Vec::new(),
            complete: None,
            outgoing: None,
        }
    }

    /// Transfers messages in both directions until one side closes.
    pub async fn run(
        mut self,
        received: mpsc::Sender<Vec<u8>>,
        mut sending: mpsc::Receiver<Vec<u8>>,
    ) -> PipeClosed {
        let mut ticks = tokio::time::interval_at(
            Instant::now() + self.settings.ping_interval,
            self.settings.ping_interval,
        );
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let ended = loop {
            let result = tokio::select! {
                permit = received.reserve(), if self.complete.is_some() => match (permit, self.complete.take()) {
                    (Ok(permit), Some(message)) => {
                        permit.send(message);
                        self.last_heard = Instant::now();
                        Ok(())
                    }
                    _ => Err(PipeClosed::Local),
                },
                message = self.from.next(), if self.complete.is_none() => match message {
                    Some(message) => self.handle_frame(&message.body).await,
                    None => Err(PipeClosed::Broken("the bus is closed")),
                },
                message = sending.recv(), if self.outgoing.is_none() => match message {
                    Some(message) => {
                        self.outgoing = Some((message, 0));
                        Ok(())
                    }
                    None => Err(PipeClosed::Local),
                },
                () = std::future::ready(()), if self.may_send() => self.send_piece().await,
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(ended) = result {
                break ended;
            }
        };
        if ended == PipeClosed::Local {
            // Best effort: the peer may be gone.
            _ = self.publish(FrameType::Bye, &[]).await;
        }
        ended
    }

    fn may_send(&self) -> bool {
        self.outgoing.is_some() && self.n_sent.saturating_sub(self.n_acked) < WINDOW
    }

    async fn send_piece(&mut self) -> Result<(), PipeClosed> {
        let Some((message, n_bytes_sent)) = self.outgoing.take() else { return Ok(()) };
        let end = (n_bytes_sent + PIECE_BYTES).min(message.len());
        let kind = if end == message.len() { FrameType::Last } else { FrameType::Part };
        let piece = message.get(n_bytes_sent..end).unwrap_or_default();
        self.publish(kind, piece).await.map_err(|_| PipeClosed::Broken("cannot send a message"))?;
        self.n_sent += 1;
        if kind == FrameType::Part {
            self.outgoing = Some((message, end));
        }
        Ok(())
    }

    async fn handle_frame(&mut self, body: &[u8]) -> Result<(), PipeClosed> {
        if body.is_empty() {
            return Err(PipeClosed::Broken("the peer has unsubscribed"));
        }
        let frame = Frame::read(body).ok_or(PipeClosed::Broken("invalid frame"))?;
        if frame.kind == FrameType::Open {
            return Ok(());
        }
        self.last_heard = Instant::now();
        if frame.n_sent != self.n_received || frame.n_received > self.n_sent {
            return Err(PipeClosed::Broken("a message was lost"));
        }
        self.n_acked = frame.n_received;
        match frame.kind {
            FrameType::Bye => return Err(PipeClosed::Peer),
            FrameType::Open | FrameType::Ping => return Ok(()),
            FrameType::Part | FrameType::Last => {}
        }
        if self.partial.len() + frame.body.len() > self.settings.bytes_max {
            return Err(PipeClosed::Broken("a message is too large"));
        }
        self.partial.extend_from_slice(frame.body);
        if frame.kind == FrameType::Last {
            self.complete = Some(std::mem::take(&mut self.partial));
        }
        self.n_received += 1;
        if self.n_received - self.n_received_acked >= ACK_EVERY {
            self.send_ack().await;
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), PipeClosed> {
        // While a received message waits to be handed over, this end does not read, so it cannot judge the
        // peer's silence.
        if self.complete.is_none() && self.last_heard.elapsed() > self.settings.silence_timeout {
            return Err(PipeClosed::Broken("silence timeout"));
        }
        self.send_ack().await;
        Ok(())
    }

    /// Sends an acknowledgement with the current counters. If the message is lost, the next acknowledgement
    /// replaces it.
    async fn send_ack(&mut self) {
        if self.publish(FrameType::Ping, &[]).await.is_ok() {
            self.n_received_acked = self.n_received;
        }
    }

    async fn publish(&mut self, kind: FrameType, body: &[u8]) -> Result<(), BusError> {
        let frame = Frame { kind, n_sent: self.n_sent, n_received: self.n_received, body };
        self.bus.publish_with_no_subscriber_reply(&self.to, frame.write(), Some(&self.here)).await
    }
}

impl Frame<'_> {
    fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.body.len());
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.n_sent.to_be_bytes());
        bytes.extend_from_slice(&self.n_received.to_be_bytes());
        bytes.extend_from_slice(self.body);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Frame<'_>> {
        let (kind, rest) = bytes.split_first()?;
        let (n_sent, rest) = rest.split_first_chunk()?;
        let (n_received, body) = rest.split_first_chunk()?;
        let kinds = [FrameType::Open, FrameType::Part, FrameType::Last, FrameType::Ping, FrameType::Bye];
        let kind = kinds.into_iter().find(|candidate| *candidate as u8 == *kind)?;
        Some(Frame {
            kind,
            n_sent: u64::from_be_bytes(*n_sent),
            n_received: u64::from_be_bytes(*n_received),
            body,
        })
    }
}
