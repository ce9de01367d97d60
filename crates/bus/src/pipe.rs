//! A conversation over a bus that may lose messages: everything arrives in order, or the conversation ends.
//!
//! Every piece has a number, so a gap is noticed; each side says now and then how much it sent and took, so a lost end is
//! noticed too. What is sent and was not taken is bounded: a side that does not keep up makes the other one wait. Either
//! side that hears nothing for too long ends it. Whoever wants to go on begins another one and says again what matters.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::bus::{Bus, BusError};
use crate::subject::Subject;
use crate::subscription::Subscription;

/// Small enough for any bus, together with its head.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that were sent and not taken. Not more than a bus keeps for a listener.
const WINDOW: u64 = 64;
/// How often it is said what was taken, in pieces.
const TOLD_EVERY: u64 = WINDOW / 4;
const HEAD_BYTES: usize = 17;

#[derive(Clone, Copy, Debug)]
pub struct PipeSettings {
    pub ping_every: Duration,
    /// Hearing nothing for longer ends it.
    pub silence_max: Duration,
    /// Of one message that comes in.
    pub bytes_max: usize,
}

/// One end of a conversation.
pub struct Pipe {
    bus: Bus,
    to: Subject,
    /// Where we listen.
    here: Subject,
    from: Subscription,
    settings: PipeSettings,
    n_sent: u64,
    /// How many of them the other side took.
    n_taken_there: u64,
    n_taken: u64,
    n_told: u64,
    heard: Instant,
    /// The message that comes in, as far as it is there.
    partial: Vec<u8>,
    /// One that is whole and was not handed on yet.
    whole: Option<Vec<u8>>,
    /// The message that goes out, and how much of it has gone.
    outgoing: Option<(Vec<u8>, usize)>,
}

/// Why a conversation is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipeEnded {
    /// By whoever holds this end.
    Here,
    /// By the other side.
    There,
    /// Something is missing, or nothing is heard any more.
    Broken(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open = 1,
    Part = 2,
    Last = 3,
    Ping = 4,
    Bye = 5,
}

struct Frame<'a> {
    kind: Kind,
    n_sent: u64,
    n_taken: u64,
    body: &'a [u8],
}

impl Pipe {
    /// Answers somebody who called and listens at `to` already.
    pub async fn answer(
        bus: Bus,
        to: Subject,
        here: Subject,
        settings: PipeSettings,
    ) -> Result<Self, BusError> {
        let from = bus.subscribe(&here.clone().into()).await?;
        let mut pipe = Self::new(bus, to, here, from, settings);
        pipe.publish(Kind::Open, &[]).await?;
        Ok(pipe)
    }

    /// Listens at `here`, says the word at the door and waits until somebody answers; `None`: nobody did in time.
    pub async fn call(
        bus: Bus,
        door: &Subject,
        word: Vec<u8>,
        (to, here): (Subject, Subject),
        settings: PipeSettings,
        time_max: Duration,
    ) -> Result<Option<Self>, BusError> {
        let from = bus.subscribe(&here.clone().into()).await?;
        bus.publish_or_tell(door, word, Some(&here)).await?;
        let mut pipe = Self::new(bus, to, here, from, settings);
        let waiting = async {
            let first = pipe.from.next().await;
            // An empty message: nobody is at the door.
            first.is_some_and(|first| Frame::read(&first.body).is_some_and(|frame| frame.kind == Kind::Open))
        };
        let is_open = tokio::time::timeout(time_max, waiting).await.unwrap_or(false);
        pipe.heard = Instant::now();
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
            n_taken_there: 0,
            n_taken: 0,
            n_told: 0,
            heard: Instant::now(),
            partial: Vec::new(),
            whole: None,
            outgoing: None,
        }
    }

    /// Carries messages until one side is gone.
    pub async fn carry(
        mut self,
        received: mpsc::Sender<Vec<u8>>,
        mut sending: mpsc::Receiver<Vec<u8>>,
    ) -> PipeEnded {
        let mut ticks =
            tokio::time::interval_at(Instant::now() + self.settings.ping_every, self.settings.ping_every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let ended = loop {
            let stepped = tokio::select! {
                permit = received.reserve(), if self.whole.is_some() => match (permit, self.whole.take()) {
                    (Ok(permit), Some(message)) => {
                        permit.send(message);
                        self.heard = Instant::now();
                        Ok(())
                    }
                    _ => Err(PipeEnded::Here),
                },
                message = self.from.next(), if self.whole.is_none() => match message {
                    Some(message) => self.hear(&message.body).await,
                    None => Err(PipeEnded::Broken("the bus is gone")),
                },
                message = sending.recv(), if self.outgoing.is_none() => match message {
                    Some(message) => {
                        self.outgoing = Some((message, 0));
                        Ok(())
                    }
                    None => Err(PipeEnded::Here),
                },
                () = std::future::ready(()), if self.may_send() => self.send_piece().await,
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(ended) = stepped {
                break ended;
            }
        };
        if ended == PipeEnded::Here {
            // Whoever is on the other side may be gone already.
            _ = self.publish(Kind::Bye, &[]).await;
        }
        ended
    }

    fn may_send(&self) -> bool {
        self.outgoing.is_some() && self.n_sent.saturating_sub(self.n_taken_there) < WINDOW
    }

    async fn send_piece(&mut self) -> Result<(), PipeEnded> {
        let Some((message, n_gone)) = self.outgoing.take() else { return Ok(()) };
        let end = (n_gone + PIECE_BYTES).min(message.len());
        let kind = if end == message.len() { Kind::Last } else { Kind::Part };
        let piece = message.get(n_gone..end).unwrap_or_default();
        self.publish(kind, piece).await.map_err(|_| PipeEnded::Broken("a message could not be sent"))?;
        self.n_sent += 1;
        if kind == Kind::Part {
            self.outgoing = Some((message, end));
        }
        Ok(())
    }

    async fn hear(&mut self, body: &[u8]) -> Result<(), PipeEnded> {
        if body.is_empty() {
            return Err(PipeEnded::Broken("nobody listens any more"));
        }
        let frame = Frame::read(body).ok_or(PipeEnded::Broken("a message makes no sense"))?;
        if frame.kind == Kind::Open {
            return Ok(());
        }
        self.heard = Instant::now();
        if frame.n_sent != self.n_taken || frame.n_taken > self.n_sent {
            return Err(PipeEnded::Broken("a message is missing"));
        }
        self.n_taken_there = frame.n_taken;
        match frame.kind {
            Kind::Bye => return Err(PipeEnded::There),
            Kind::Open | Kind::Ping => return Ok(()),
            Kind::Part | Kind::Last => {}
        }
        if self.partial.len() + frame.body.len() > self.settings.bytes_max {
            return Err(PipeEnded::Broken("a message is too large"));
        }
        self.partial.extend_from_slice(frame.body);
        if frame.kind == Kind::Last {
            self.whole = Some(std::mem::take(&mut self.partial));
        }
        self.n_taken += 1;
        if self.n_taken - self.n_told >= TOLD_EVERY {
            self.tell().await;
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), PipeEnded> {
        // Who does not listen because its own hands are full cannot say that the other is silent.
        if self.whole.is_none() && self.heard.elapsed() > self.settings.silence_max {
            return Err(PipeEnded::Broken("nothing is heard"));
        }
        self.tell().await;
        Ok(())
    }

    /// Says how much was sent and taken. Lost, it is said again.
    async fn tell(&mut self) {
        if self.publish(Kind::Ping, &[]).await.is_ok() {
            self.n_told = self.n_taken;
        }
    }

    async fn publish(&mut self, kind: Kind, body: &[u8]) -> Result<(), BusError> {
        let frame = Frame { kind, n_sent: self.n_sent, n_taken: self.n_taken, body };
        self.bus.publish_or_tell(&self.to, frame.write(), Some(&self.here)).await
    }
}

impl Frame<'_> {
    fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.body.len());
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.n_sent.to_be_bytes());
        bytes.extend_from_slice(&self.n_taken.to_be_bytes());
        bytes.extend_from_slice(self.body);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Frame<'_>> {
        let (kind, rest) = bytes.split_first()?;
        let (n_sent, rest) = rest.split_first_chunk()?;
        let (n_taken, body) = rest.split_first_chunk()?;
        let kinds = [Kind::Open, Kind::Part, Kind::Last, Kind::Ping, Kind::Bye];
        let kind = kinds.into_iter().find(|known| *known as u8 == *kind)?;
        Some(Frame { kind, n_sent: u64::from_be_bytes(*n_sent), n_taken: u64::from_be_bytes(*n_taken), body })
    }
}
