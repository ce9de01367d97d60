//! Serialized types used in both directions.

use serde::{Deserialize, Serialize};
use stoker_engine::session::{AttemptKey, End, Finished};
use stoker_model::{InstanceIdx, JsonMap, Micros, RunId};

use crate::codec::{WireError, check_length};
use crate::limits::MESSAGE_BYTES_MAX;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct KeyDto {
    run: i64,
    instance: u32,
    attempt: u32,
}

impl From<AttemptKey> for KeyDto {
    fn from(key: AttemptKey) -> Self {
        Self { run: key.run.0, instance: key.instance.get(), attempt: key.attempt }
    }
}

impl From<KeyDto> for AttemptKey {
    fn from(key: KeyDto) -> Self {
        Self { run: RunId(key.run), instance: InstanceIdx::new(key.instance), attempt: key.attempt }
    }
}

pub(crate) fn keys(keys: &[AttemptKey]) -> Vec<KeyDto> {
    keys.iter().copied().map(Into::into).collect()
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FinishedDto {
    key: KeyDto,
    at: i64,
    end: EndDto,
    #[serde(default, skip_serializing_if = "JsonMap::is_empty")]
    summary: JsonMap,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
enum EndDto {
    Succeeded,
    Failed { message: String },
    TimedOut,
    Cancelled,
    Interrupted,
    Refused { message: String },
}

impl From<&Finished> for FinishedDto {
    fn from(finished: &Finished) -> Self {
        let end = match &finished.end {
            End::Succeeded => EndDto::Succeeded,
            End::Failed { message } => EndDto::Failed { message: message.clone() },
            End::TimedOut => EndDto::TimedOut,
            End::Cancelled => EndDto::Cancelled,
            End::Interrupted => EndDto::Interrupted,
            End::Refused { message } => EndDto::Refused { message: message.clone() },
        };
        Self { key: finished.key.into(), at: finished.at.0, end, summary: finished.summary.clone() }
    }
}

impl FinishedDto {
    pub(crate) fn into_domain(self) -> Result<Finished, WireError> {
        let end = match self.end {
            EndDto::Succeeded => End::Succeeded,
            EndDto::Failed { message } => End::Failed { message: check_message(message)? },
            EndDto::TimedOut => End::TimedOut,
            EndDto::Cancelled => End::Cancelled,
            EndDto::Interrupted => End::Interrupted,
            EndDto::Refused { message } => End::Refused { message: check_message(message)? },
        };
        Ok(Finished { key: self.key.into(), at: Micros(self.at), end, summary: self.summary })
    }
}

fn check_message(message: String) -> Result<String, WireError> {
    check_length("message", message.len(), MESSAGE_BYTES_MAX)?;
    Ok(message)
}
