//! Messages to an agent.

use serde::{Deserialize, Serialize};
use stoker_engine::session::{Attempt, AttemptKey, CancelMode, Generation, Mode, ToAgent};
use stoker_model::{Json, RunId};

use crate::check::CheckDto;
use crate::codec::{Decoded, WireError, check_length, decode, encode};
use crate::limits::{ITEMS_MAX, NAME_BYTES_MAX, TO_AGENT_BYTES_MAX};
use crate::shared::{KeyDto, keys};

pub fn encode_to_agent(message: &ToAgent) -> String {
    encode(&ToAgentDto::from(message))
}

pub fn decode_to_agent(text: &str) -> Result<Decoded<ToAgent>, WireError> {
    decode::<ToAgentDto>(text, TO_AGENT_BYTES_MAX)?.into_domain()
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ToAgentDto {
    Welcome {
        heartbeat_ms: u64,
    },
    Start {
        attempt: AttemptDto,
    },
    Cancel {
        key: KeyDto,
        generation: u64,
        how: CancelHowDto,
    },
    Acknowledge {
        keys: Vec<KeyDto>,
    },
    RunEnded {
        run: i64,
    },
    Check {
        check: CheckDto,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
struct AttemptDto {
    key: KeyDto,
    generation: u64,
    task: String,
    node: String,
    task_type: String,
    parameters: Json,
    mode: ModeDto,
    #[serde(default)]
    debug: bool,
    timeout_ms: u64,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeDto {
    Normal,
    Noop,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CancelHowDto {
    Graceful,
    Now,
}

impl From<&ToAgent> for ToAgentDto {
    fn from(message: &ToAgent) -> Self {
        match message {
            ToAgent::Welcome { heartbeat_ms } => Self::Welcome { heartbeat_ms: *heartbeat_ms },
            ToAgent::Start(attempt) => Self::Start { attempt: attempt.into() },
            ToAgent::Cancel { key, generation, how } => Self::Cancel {
                key: (*key).into(),
                generation: generation.0,
                how: match how {
                    CancelMode::Graceful => CancelHowDto::Graceful,
                    CancelMode::Now => CancelHowDto::Now,
                },
            },
            ToAgent::Acknowledge { keys: acknowledged } => Self::Acknowledge { keys: keys(acknowledged) },
            ToAgent::RunEnded { run } => Self::RunEnded { run: run.0 },
            ToAgent::Check(request) => Self::Check { check: request.into() },
        }
    }
}

impl From<&Attempt> for AttemptDto {
    fn from(attempt: &Attempt) -> Self {
        Self {
            key: attempt.key.into(),
            generation: attempt.generation.0,
            task: attempt.task.clone(),
            node: attempt.node.clone(),
            task_type: attempt.task_type.clone(),
            parameters: attempt.parameters.clone(),
            mode: match attempt.mode {
                Mode::Normal => ModeDto::Normal,
                Mode::Noop => ModeDto::Noop,
            },
            debug: attempt.debug,
            timeout_ms: attempt.timeout_ms,
            secrets: attempt.secrets.clone(),
            trace: attempt.trace.clone(),
        }
    }
}

impl ToAgentDto {
    fn into_domain(self) -> Result<Decoded<ToAgent>, WireError> {
        Ok(Decoded::Message(match self {
            Self::Welcome { heartbeat_ms } => ToAgent::Welcome { heartbeat_ms },
            Self::Start { attempt } => ToAgent::Start(attempt.into_domain()?),
            Self::Cancel { key, generation, how } => ToAgent::Cancel {
                key: key.into(),
                generation: Generation(generation),
                how: match how {
                    CancelHowDto::Graceful => CancelMode::Graceful,
                    CancelHowDto::Now => CancelMode::Now,
                },
            },
            Self::Acknowledge { keys } => {
                check_length("keys", keys.len(), ITEMS_MAX)?;
                ToAgent::Acknowledge { keys: keys.into_iter().map(AttemptKey::from).collect() }
            }
            Self::RunEnded { run } => ToAgent::RunEnded { run: RunId(run) },
            Self::Check { check } => ToAgent::Check(check.into_domain()?),
            Self::Unknown => return Ok(Decoded::Unknown),
        }))
    }
}

impl AttemptDto {
    fn into_domain(self) -> Result<Attempt, WireError> {
        check_length("task", self.task.len(), NAME_BYTES_MAX)?;
        check_length("node", self.node.len(), NAME_BYTES_MAX)?;
        check_length("task_type", self.task_type.len(), NAME_BYTES_MAX)?;
        check_length("secrets", self.secrets.len(), ITEMS_MAX)?;
        check_length("trace", self.trace.as_ref().map_or(0, String::len), NAME_BYTES_MAX)?;
        Ok(Attempt {
            key: self.key.into(),
            generation: Generation(self.generation),
            task: self.task,
            node: self.node,
            task_type: self.task_type,
            parameters: self.parameters,
            mode: match self.mode {
                ModeDto::Normal => Mode::Normal,
                ModeDto::Noop => Mode::Noop,
            },
            debug: self.debug,
            timeout_ms: self.timeout_ms,
            secrets: self.secrets,
            trace: self.trace,
        })
    }
}
