//! Messages of a check, in both directions.

use serde::{Deserialize, Serialize};
use stoker_engine::session::{CheckItem, CheckOutcome, CheckReport, CheckRequest};
use stoker_model::{HostDifference, Json};

use crate::codec::{WireError, check_length};
use crate::limits::{ITEMS_MAX, NAME_BYTES_MAX};
use crate::shared::check_message;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckDto {
    id: String,
    node: String,
    timeout_ms: u64,
    items: Vec<ItemDto>,
    #[serde(default)]
    secrets: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ItemDto {
    task_type: String,
    parameters: Json,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckedDto {
    id: String,
    results: Vec<ResultDto>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
enum ResultDto {
    Compared {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        diff: Vec<Json>,
    },
    Failed {
        message: String,
    },
}

impl From<&CheckRequest> for CheckDto {
    fn from(request: &CheckRequest) -> Self {
        let item = |item: &CheckItem| ItemDto {
            task_type: item.task_type.clone(),
            parameters: item.parameters.clone(),
        };
        Self {
            id: request.id.clone(),
            node: request.node.clone(),
            timeout_ms: request.timeout_ms,
            items: request.items.iter().map(item).collect(),
            secrets: request.secrets.clone(),
        }
    }
}

impl CheckDto {
    pub(crate) fn into_domain(self) -> Result<CheckRequest, WireError> {
        check_length("id", self.id.len(), NAME_BYTES_MAX)?;
        check_length("node", self.node.len(), NAME_BYTES_MAX)?;
        check_length("items", self.items.len(), ITEMS_MAX)?;
        check_length("secrets", self.secrets.len(), ITEMS_MAX)?;
        let item = |item: ItemDto| {
            check_length("task_type", item.task_type.len(), NAME_BYTES_MAX)?;
            Ok(CheckItem { task_type: item.task_type, parameters: item.parameters })
        };
        Ok(CheckRequest {
            id: self.id,
            node: self.node,
            timeout_ms: self.timeout_ms,
            items: self.items.into_iter().map(item).collect::<Result<_, WireError>>()?,
            secrets: self.secrets,
        })
    }
}

impl From<&CheckReport> for CheckedDto {
    fn from(report: &CheckReport) -> Self {
        let result = |result: &CheckOutcome| match result {
            CheckOutcome::Compared { diff } => {
                ResultDto::Compared { diff: diff.iter().map(HostDifference::to_json).collect() }
            }
            CheckOutcome::Failed { message } => ResultDto::Failed { message: message.clone() },
        };
        Self { id: report.id.clone(), results: report.results.iter().map(result).collect() }
    }
}

impl CheckedDto {
    pub(crate) fn into_domain(self) -> Result<CheckReport, WireError> {
        check_length("id", self.id.len(), NAME_BYTES_MAX)?;
        check_length("results", self.results.len(), ITEMS_MAX)?;
        let results = self.results.into_iter().map(ResultDto::into_domain).collect::<Result<_, _>>()?;
        Ok(CheckReport { id: self.id, results })
    }
}

impl ResultDto {
    fn into_domain(self) -> Result<CheckOutcome, WireError> {
        Ok(match self {
            Self::Compared { diff } => {
                let read: Option<Vec<HostDifference>> = diff.iter().map(HostDifference::from_json).collect();
                // Dropping a difference would report a node as in the desired state that is not.
                match read {
                    Some(diff) => CheckOutcome::Compared { diff },
                    None => CheckOutcome::Failed {
                        message: "the agent reported a difference that this server cannot read".to_owned(),
                    },
                }
            }
            Self::Failed { message } => CheckOutcome::Failed { message: check_message(message)? },
        })
    }
}
