//! Request and response types for runs.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{list_of, one_of, string_with_length};
use stoker_model::Json;
use utoipa::ToSchema;

use crate::request::request;
use crate::transactions::RunView;

/// Modes of stopping a run; the first is the default.
pub const STOP_MODES: &[&str] = &["graceful", "now"];
const NAME_CHARS_MAX: usize = 255;

/// Event of a run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventView {
    /// Sequence number, starting at 1 without gaps, across all child runs.
    #[schema(example = 17)]
    pub seq: i64,
    /// ID of the child run in which the event occurred.
    #[schema(example = 8)]
    pub part: i64,
    /// Time of the event.
    pub at: String,
    /// Kind of event.
    #[schema(example = "attempt_ended")]
    pub kind: String,
    /// Index of the task instance in the plan.
    pub instance: Option<i64>,
    /// Details of the event; their structure depends on `kind`.
    #[schema(value_type = Object)]
    pub body: Json,
}

/// Chunk of the output of a task instance.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Output)]
pub struct OutputView {
    /// Index of the task instance in the plan.
    #[schema(example = 3)]
    pub instance: i64,
    /// Number of the attempt, starting at 1.
    #[schema(example = 1)]
    pub attempt: i64,
    /// Output stream: `out` or `err`.
    #[schema(example = "out")]
    pub stream: String,
    /// Offset of the first byte in the stream.
    #[schema(example = 0)]
    pub start: i64,
    /// Text of the chunk.
    pub text: String,
}

/// Run with its child runs.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Run)]
pub struct RunDetails {
    /// The run.
    pub run: RunView,
    /// Child runs, one per graph, in execution order.
    pub parts: Vec<PartView>,
}

/// Child run: the execution of one graph.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = RunPart)]
pub struct PartView {
    /// The child run.
    pub run: RunView,
    /// ID of the plan that is executed. Null until the graph is planned.
    #[schema(example = 4)]
    pub plan_id: Option<i64>,
    /// Options with which the graph was requested.
    #[schema(value_type = Object)]
    pub request: Json,
    /// Sequence number of the last event that this response includes. To follow the run, request the events
    /// after it.
    #[schema(example = 17)]
    pub last_event: i64,
    /// Whether the child run is paused: no new task instances start until it is resumed.
    pub is_paused: bool,
}

request! {
    /// Options of a stop request.
    #[schema(as = StopRun)]
    pub struct StopBody {
        /// `graceful` (default): running task instances finish; `now`: they are terminated.
        #[schema(example = "graceful")]
        how: Option<&'static str> = optional(one_of(STOP_MODES)),
    }
}

request! {
    /// Options of a retry.
    #[schema(as = RetryRun)]
    pub struct RetryBody {
        /// Task instances to start from, as `task` or `task/nodes`. They and all of their successors are
        /// re-executed, regardless of their previous results.
        #[schema(example = json!(["netconfig/3"]))]
        from: Option<Vec<String>> = nullable(list_of(string_with_length(1..=NAME_CHARS_MAX))),
    }
}
