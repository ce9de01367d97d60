//! Messages from an agent.

use serde::{Deserialize, Serialize};
use stoker_engine::session::{AttemptKey, FromAgent, Hello, Stream};
use stoker_model::{JsonMap, Micros, RunId};

use crate::PROTOCOL_VERSION;
use crate::check::CheckedDto;
use crate::codec::{Decoded, WireError, check_length, check_version, decode, encode};
use crate::limits::{FROM_AGENT_BYTES_MAX, ITEMS_MAX, NAME_BYTES_MAX, OUTPUT_BYTES_MAX};
use crate::shared::{FinishedDto, KeyDto, keys};

pub fn encode_from_agent(message: &FromAgent) -> String {
    encode(&FromAgentDto::from(message))
}

pub fn decode_from_agent(text: &str) -> Result<Decoded<FromAgent>, WireError> {
    decode::<FromAgentDto>(text, FROM_AGENT_BYTES_MAX)?.into_domain()
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum FromAgentDto {
    Hello {
        hello: HelloDto,
    },
    Heartbeat,
    Facts {
        facts: JsonMap,
    },
    Started {
        key: KeyDto,
        at: i64,
    },
    Output {
        key: KeyDto,
        stream: StreamDto,
        offset: u64,
        text: String,
    },
    Finished {
        finished: FinishedDto,
    },
    Checked {
        checked: CheckedDto,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
struct HelloDto {
    /// Protocol version; see [`PROTOCOL_VERSION`].
    #[serde(default)]
    wire_version: u32,
    node: String,
    version: String,
    #[serde(default)]
    running: Vec<KeyDto>,
    #[serde(default)]
    finished: Vec<FinishedDto>,
    #[serde(default)]
    runs: Vec<i64>,
    #[serde(default)]
    facts: JsonMap,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    journal_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StreamDto {
    Out,
    Err,
}

impl From<&FromAgent> for FromAgentDto {
    fn from(message: &FromAgent) -> Self {
        match message {
            FromAgent::Hello(hello) => Self::Hello { hello: hello.into() },
            FromAgent::Heartbeat => Self::Heartbeat,
            FromAgent::Facts(facts) => Self::Facts { facts: facts.clone() },
            FromAgent::Started { key, at } => Self::Started { key: (*key).into(), at: at.0 },
            FromAgent::Output { key, stream, offset, text } => Self::Output {
                key: (*key).into(),
                stream: match stream {
                    Stream::Out => StreamDto::Out,
                    Stream::Err => StreamDto::Err,
                },
                offset: *offset,
                text: text.clone(),
            },
            FromAgent::Finished(finished) => Self::Finished { finished: finished.into() },
            FromAgent::Checked(report) => Self::Checked { checked: report.into() },
        }
    }
}

impl From<&Hello> for HelloDto {
    fn from(hello: &Hello) -> Self {
        Self {
            wire_version: PROTOCOL_VERSION,
            node: hello.node.to_string(),
            version: hello.version.clone(),
            running: keys(&hello.running),
            finished: hello.finished.iter().map(Into::into).collect(),
            runs: hello.runs.iter().map(|run| run.0).collect(),
            facts: hello.facts.clone(),
            journal_id: hello.journal_id.clone(),
        }
    }
}

impl FromAgentDto {
    fn into_domain(self) -> Result<Decoded<FromAgent>, WireError> {
        Ok(Decoded::Message(match self {
            Self::Hello { hello } => FromAgent::Hello(hello.into_domain()?),
            Self::Heartbeat => FromAgent::Heartbeat,
            Self::Facts { facts } => FromAgent::Facts(facts),
            Self::Started { key, at } => FromAgent::Started { key: key.into(), at: Micros(at) },
            Self::Output { key, stream, offset, text } => {
                check_length("text", text.len(), OUTPUT_BYTES_MAX)?;
                let stream = match stream {
                    StreamDto::Out => Stream::Out,
                    StreamDto::Err => Stream::Err,
                };
                FromAgent::Output { key: key.into(), stream, offset, text }
            }
            Self::Finished { finished } => FromAgent::Finished(finished.into_domain()?),
            Self::Checked { checked } => FromAgent::Checked(checked.into_domain()?),
            Self::Unknown => return Ok(Decoded::Unknown),
        }))
    }
}

impl HelloDto {
    fn into_domain(self) -> Result<Hello, WireError> {
        check_version(self.wire_version, PROTOCOL_VERSION)?;
        check_length("node", self.node.len(), NAME_BYTES_MAX)?;
        check_length("version", self.version.len(), NAME_BYTES_MAX)?;
        check_length("running", self.running.len(), ITEMS_MAX)?;
        check_length("finished", self.finished.len(), ITEMS_MAX)?;
        check_length("runs", self.runs.len(), ITEMS_MAX)?;
        check_length("journal_id", self.journal_id.as_ref().map_or(0, String::len), NAME_BYTES_MAX)?;
        Ok(Hello {
            node: self.node.into(),
            version: self.version,
            running: self.running.into_iter().map(AttemptKey::from).collect(),
            finished: self.finished.into_iter().map(FinishedDto::into_domain).collect::<Result<_, _>>()?,
            runs: self.runs.into_iter().map(RunId).collect(),
            facts: self.facts,
            journal_id: self.journal_id,
        })
    }
}
