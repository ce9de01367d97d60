//! Messages between the servers that share a database.
//!
//! Messages may be lost, duplicated or delayed: senders repeat important messages until they take effect, and
//! handling a message is idempotent. Messages from and to agents are embedded in their wire encoding.

use serde::{Deserialize, Serialize};
use stoker_engine::run::{Input as RunInput, StopMode};
use stoker_engine::session::{AttemptKey, CancelMode, InFlight};
use stoker_model::{AgentUid, ErrorChain, InstanceIdx, RunId};

use crate::agents::RunResponse;

/// A message and its sender.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) from: String,
    /// Serialized under its former name, because servers of different versions exchange messages during an
    /// upgrade.
    #[serde(rename = "letter")]
    pub(crate) message: PeerMessage,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum PeerMessage {
    /// To the host of an agent: dispatch this attempt.
    Dispatch {
        uid: AgentUid,
        key: Key,
        generation: u64,
        start: String,
    },
    /// To the host of an agent: the complete set of the run's attempts in flight with the agent. The host
    /// cancels all other attempts of the run.
    Claim {
        uid: AgentUid,
        run: i64,
        generation: u64,
        flights: Vec<Flight>,
    },
    /// To the host of an agent: a requested attempt, a cancellation, an acknowledgement, or the end of a run.
    ToAgent {
        uid: AgentUid,
        text: String,
    },
    /// To the driver of a run: the agent has not received this attempt.
    Deliver {
        uid: AgentUid,
        key: Key,
    },
    /// To the driver of a run: a message from an agent.
    FromAgent {
        uid: AgentUid,
        text: String,
    },
    /// To a server that addressed the sender as the driver of a run: the sender does not drive it.
    NotMine {
        run: i64,
    },
    /// To the driver of a run: a control request. Answered with `Answer`.
    Ask {
        id: u64,
        run: i64,
        what: RunControl,
    },
    Answer {
        id: u64,
        answer: RunResponse,
    },
    /// To the driver of a run: a result from durable storage. Answered when the result is committed.
    Settle {
        id: u64,
        uid: AgentUid,
        text: String,
    },
    /// Sent to all servers: authentication tokens changed; clear their cache.
    ForgetTokens,
    /// To all servers: close the connection of an agent.
    CloseAgent {
        uid: AgentUid,
    },
    /// Sent to all servers: look for runs without a driver.
    TakeUp,
    /// Sent to all servers: a run changed; wake its watchers.
    News {
        run: i64,
    },
    /// Sent by a newer version; ignored.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Key {
    run: i64,
    instance: u32,
    attempt: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Flight {
    key: Key,
    is_started: bool,
    cancel: Option<How>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    Graceful,
    Now,
}

/// Control request to the driver of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunControl {
    StopGracefully,
    StopNow,
    Pause,
    Resume,
}

impl From<AttemptKey> for Key {
    fn from(key: AttemptKey) -> Self {
        Self { run: key.run.0, instance: key.instance.get(), attempt: key.attempt }
    }
}

impl From<Key> for AttemptKey {
    fn from(key: Key) -> Self {
        Self { run: RunId(key.run), instance: InstanceIdx::new(key.instance), attempt: key.attempt }
    }
}

impl From<InFlight> for Flight {
    fn from(flight: InFlight) -> Self {
        let cancel = flight.cancel.map(|how| match how {
            CancelMode::Graceful => How::Graceful,
            CancelMode::Now => How::Now,
        });
        Self { key: flight.key.into(), is_started: flight.is_started, cancel }
    }
}

impl From<Flight> for InFlight {
    fn from(flight: Flight) -> Self {
        let cancel = flight.cancel.map(|how| match how {
            How::Graceful => CancelMode::Graceful,
            How::Now => CancelMode::Now,
        });
        Self { key: flight.key.into(), is_started: flight.is_started, cancel }
    }
}

impl RunControl {
    /// Converts a control input; `None` if the input is internal to the driver.
    pub(crate) fn of(input: &RunInput) -> Option<Self> {
        match input {
            RunInput::Stop { how: StopMode::Graceful } => Some(Self::StopGracefully),
            RunInput::Stop { how: StopMode::Now } => Some(Self::StopNow),
            RunInput::Pause => Some(Self::Pause),
            RunInput::Resume => Some(Self::Resume),
            _ => None,
        }
    }

    pub(crate) fn input(self) -> RunInput {
        match self {
            Self::StopGracefully => RunInput::Stop { how: StopMode::Graceful },
            Self::StopNow => RunInput::Stop { how: StopMode::Now },
            Self::Pause => RunInput::Pause,
            Self::Resume => RunInput::Resume,
        }
    }
}

impl PeerMessage {
    /// Serializes an envelope with this message.
    pub(crate) fn encode(&self, from: &str) -> String {
        #[derive(Serialize)]
        struct Outside<'l> {
            from: &'l str,
            #[serde(rename = "letter")]
            message: &'l PeerMessage,
        }
        // Serializing strings, numbers and lists cannot fail.
        serde_json::to_string(&Outside { from, message: self }).unwrap_or_default()
    }
}

impl Envelope {
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        match serde_json::from_slice(text) {
            Ok(envelope) => Some(envelope),
            Err(error) => {
                tracing::warn!(error = %ErrorChain(&error), "malformed message from a peer");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::run::InputError;

    use super::*;

    fn again(letter: &PeerMessage) -> PeerMessage {
        Envelope::decode(letter.encode("a").as_bytes()).unwrap().message
    }

    #[test]
    fn claims_round_trip() {
        let key = AttemptKey { run: RunId(7), instance: InstanceIdx::new(3), attempt: 2 };
        let flights = [
            InFlight { key, is_started: true, cancel: None },
            InFlight { key, is_started: false, cancel: Some(CancelMode::Now) },
            InFlight { key, is_started: false, cancel: Some(CancelMode::Graceful) },
        ];
        let written = flights.iter().copied().map(Flight::from).collect();
        let letter = PeerMessage::Claim { uid: "7".into(), run: 7, generation: 4, flights: written };
        let PeerMessage::Claim { flights: read, .. } = again(&letter) else { panic!("another kind") };
        for (read, written) in read.into_iter().map(InFlight::from).zip(flights) {
            assert_eq!((read.key, read.is_started), (written.key, written.is_started));
            assert_eq!(read.cancel, written.cancel);
        }
    }

    #[test]
    fn control_requests_and_responses_round_trip() {
        for wish in [RunControl::StopGracefully, RunControl::StopNow, RunControl::Pause, RunControl::Resume] {
            assert_eq!(RunControl::of(&wish.input()), Some(wish));
        }
        assert_eq!(RunControl::of(&RunInput::Wake), None);
        let results =
            [Ok(()), Err(None), Err(Some(InputError::AlreadyPaused)), Err(Some(InputError::HasEnded))];
        for result in results {
            assert_eq!(RunResponse::of(result).result(), result);
        }
    }

    #[test]
    fn unknown_messages_are_distinguished_from_malformed_ones() {
        let newer = br#"{"from":"a","letter":{"kind":"dance","steps":3}}"#;
        assert!(matches!(Envelope::decode(newer).unwrap().message, PeerMessage::Unknown));
        for text in ["", "{}", r#"{"from":"a"}"#, r#"{"from":"a","letter":{"kind":"take_up"}"#] {
            assert!(Envelope::decode(text.as_bytes()).is_none(), "{text}");
        }
    }
}
