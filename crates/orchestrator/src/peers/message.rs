//! What servers of a group say to each other.
//!
//! A letter can be lost, and can come twice or late. Whatever matters is said again by whoever is waiting, and hearing it
//! again changes nothing. Messages of and to agents are spelled as on the wire.

use serde::{Deserialize, Serialize};
use stoker_engine::run::{InFlight, Input as RunInput, StopHow};
use stoker_engine::session::{AttemptKey, CancelHow};
use stoker_model::RunId;

use crate::agents::RunResponse;

/// A message and its sender.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) from: String,
    /// Under the name it had in earlier versions, with which it is exchanged during an upgrade.
    #[serde(rename = "letter")]
    pub(crate) message: PeerMessage,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum PeerMessage {
    /// To whoever has an agent: it is to carry this out.
    Dispatch {
        uid: String,
        key: Key,
        generation: u64,
        start: String,
    },
    /// To the same: what of a run is in flight with it. What else it carries out of that run nobody waits for.
    Claim {
        uid: String,
        run: i64,
        generation: u64,
        flights: Vec<Flight>,
    },
    /// To the same: an attempt that it had not got, a cancellation, an acknowledgement, the end of a run.
    ToAgent {
        uid: String,
        text: String,
    },
    /// To whoever carries a run out: an agent has not got this.
    Deliver {
        uid: String,
        key: Key,
    },
    /// To the same: what an agent says.
    FromAgent {
        uid: String,
        text: String,
    },
    /// To whoever took somebody for the one who carries a run out: it is not.
    NotMine {
        run: i64,
    },
    /// To whoever carries a run out: somebody wants something.
    Ask {
        id: u64,
        run: i64,
        what: RunControl,
    },
    Answer {
        id: u64,
        answer: RunResponse,
    },
    /// To whoever carries a run out: an end that somebody kept. Answered when it is safe.
    Settle {
        id: u64,
        uid: String,
        text: String,
    },
    /// To all: logins have changed.
    ForgetTokens,
    /// To all: end the connection of an agent.
    CloseAgent {
        uid: String,
    },
    /// To all: there may be a run that nobody carries out.
    TakeUp,
    /// To all: something happened in a run.
    News {
        run: i64,
    },
    /// Of a newer server.
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

/// What can be asked of a run.
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
        Self { run: key.run.0, instance: key.instance, attempt: key.attempt }
    }
}

impl From<Key> for AttemptKey {
    fn from(key: Key) -> Self {
        Self { run: RunId(key.run), instance: key.instance, attempt: key.attempt }
    }
}

impl From<InFlight> for Flight {
    fn from(flight: InFlight) -> Self {
        let cancel = flight.cancel.map(|how| match how {
            CancelHow::Graceful => How::Graceful,
            CancelHow::Now => How::Now,
        });
        Self { key: flight.key.into(), is_started: flight.is_started, cancel }
    }
}

impl From<Flight> for InFlight {
    fn from(flight: Flight) -> Self {
        let cancel = flight.cancel.map(|how| match how {
            How::Graceful => CancelHow::Graceful,
            How::Now => CancelHow::Now,
        });
        Self { key: flight.key.into(), is_started: flight.is_started, cancel }
    }
}

impl RunControl {
    /// `None`: nobody but the driver says such a thing.
    pub(crate) fn of(input: &RunInput) -> Option<Self> {
        match input {
            RunInput::Stop { how: StopHow::Graceful } => Some(Self::StopGracefully),
            RunInput::Stop { how: StopHow::Now } => Some(Self::StopNow),
            RunInput::Pause => Some(Self::Pause),
            RunInput::Resume => Some(Self::Resume),
            _ => None,
        }
    }

    pub(crate) fn input(self) -> RunInput {
        match self {
            Self::StopGracefully => RunInput::Stop { how: StopHow::Graceful },
            Self::StopNow => RunInput::Stop { how: StopHow::Now },
            Self::Pause => RunInput::Pause,
            Self::Resume => RunInput::Resume,
        }
    }
}

impl PeerMessage {
    /// The text of an envelope with this letter in it.
    pub(crate) fn encode(&self, from: &str) -> String {
        #[derive(Serialize)]
        struct Outside<'l> {
            from: &'l str,
            #[serde(rename = "letter")]
            message: &'l PeerMessage,
        }
        // Texts, numbers and lists always have a text form.
        serde_json::to_string(&Outside { from, message: self }).unwrap_or_default()
    }
}

impl Envelope {
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        match serde_json::from_slice(text) {
            Ok(envelope) => Some(envelope),
            Err(error) => {
                tracing::warn!(%error, "a server said something that makes no sense");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stoker_engine::run::Illegal;

    use super::*;

    fn again(letter: &PeerMessage) -> PeerMessage {
        Envelope::decode(letter.encode("a").as_bytes()).unwrap().message
    }

    #[test]
    fn what_is_in_flight_is_read_as_it_was_written() {
        let key = AttemptKey { run: RunId(7), instance: 3, attempt: 2 };
        let flights = [
            InFlight { key, is_started: true, cancel: None },
            InFlight { key, is_started: false, cancel: Some(CancelHow::Now) },
            InFlight { key, is_started: false, cancel: Some(CancelHow::Graceful) },
        ];
        let written = flights.iter().copied().map(Flight::from).collect();
        let letter = PeerMessage::Claim { uid: "7".to_owned(), run: 7, generation: 4, flights: written };
        let PeerMessage::Claim { flights: read, .. } = again(&letter) else { panic!("another kind") };
        for (read, written) in read.into_iter().map(InFlight::from).zip(flights) {
            assert_eq!((read.key, read.is_started), (written.key, written.is_started));
            assert_eq!(read.cancel, written.cancel);
        }
    }

    #[test]
    fn wishes_and_answers_cross() {
        for wish in [RunControl::StopGracefully, RunControl::StopNow, RunControl::Pause, RunControl::Resume] {
            assert_eq!(RunControl::of(&wish.input()), Some(wish));
        }
        assert_eq!(RunControl::of(&RunInput::Wake), None);
        let results = [Ok(()), Err(None), Err(Some(Illegal::AlreadyPaused)), Err(Some(Illegal::HasEnded))];
        for result in results {
            assert_eq!(RunResponse::of(result).result(), result);
        }
    }

    #[test]
    fn letters_of_newer_servers_are_told_from_nonsense() {
        let newer = br#"{"from":"a","letter":{"kind":"dance","steps":3}}"#;
        assert!(matches!(Envelope::decode(newer).unwrap().message, PeerMessage::Unknown));
        for text in ["", "{}", r#"{"from":"a"}"#, r#"{"from":"a","letter":{"kind":"take_up"}"#] {
            assert!(Envelope::decode(text.as_bytes()).is_none(), "{text}");
        }
    }
}
