//! Serialized types used in both directions.

use serde::{Deserialize, Serialize};
use stoker_engine::session::{AttemptKey, AttemptResult, ResultKind};
use stoker_model::{HostDifference, InstanceIdx, Json, JsonMap, Micros, RunId, TaskReport};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    diff: Vec<Json>,
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

impl From<&AttemptResult> for FinishedDto {
    fn from(finished: &AttemptResult) -> Self {
        let end = match &finished.end {
            ResultKind::Succeeded => EndDto::Succeeded,
            ResultKind::Failed { message } => EndDto::Failed { message: message.clone() },
            ResultKind::TimedOut => EndDto::TimedOut,
            ResultKind::Cancelled => EndDto::Cancelled,
            ResultKind::Interrupted => EndDto::Interrupted,
            ResultKind::Refused { message } => EndDto::Refused { message: message.clone() },
        };
        let TaskReport { summary, changed, diff } = &finished.report;
        Self {
            key: finished.key.into(),
            at: finished.at.0,
            end,
            summary: summary.clone(),
            changed: *changed,
            diff: diff.iter().map(HostDifference::to_json).collect(),
        }
    }
}

impl FinishedDto {
    pub(crate) fn into_domain(self) -> Result<AttemptResult, WireError> {
        let end = match self.end {
            EndDto::Succeeded => ResultKind::Succeeded,
            EndDto::Failed { message } => ResultKind::Failed { message: check_message(message)? },
            EndDto::TimedOut => ResultKind::TimedOut,
            EndDto::Cancelled => ResultKind::Cancelled,
            EndDto::Interrupted => ResultKind::Interrupted,
            EndDto::Refused { message } => ResultKind::Refused { message: check_message(message)? },
        };
        // Differences in a form of a later version are dropped: they explain a result and are not part of it.
        let diff = self.diff.iter().filter_map(HostDifference::from_json).collect();
        let report = TaskReport { summary: self.summary, changed: self.changed, diff };
        Ok(AttemptResult { key: self.key.into(), at: Micros(self.at), end, report })
    }
}

pub(crate) fn check_message(message: String) -> Result<String, WireError> {
    check_length("message", message.len(), MESSAGE_BYTES_MAX)?;
    Ok(message)
}
