//! Bodies of run events, as the server stores and returns them.

use serde::{Deserialize, Serialize};
use stoker_model::{Json, JsonMap};
use utoipa::ToSchema;

/// Body of an event, from a server of any version.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EventBody {
    Known(KnownEvent),
    /// Event of a newer version.
    Unknown(Json),
}

impl From<Json> for EventBody {
    fn from(stored: Json) -> Self {
        match KnownEvent::deserialize(&stored) {
            Ok(event) => Self::Known(event),
            Err(_) => Self::Unknown(stored),
        }
    }
}

/// Details of an event.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[schema(as = EventBody)]
pub struct KnownEvent {
    #[serde(flatten)]
    pub details: EventDetails,
    /// Time of the event by the clock of the server, in microseconds since the Unix epoch.
    #[schema(example = 1_769_842_801_500_000_i64)]
    pub at: i64,
}

/// Details of an event by its kind. Task instances, nodes and fault tolerance groups are indexes into the plan.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventDetails {
    Began,
    /// The run lease was acquired by another server, or by the same one after a restart.
    TakenOver,
    /// An attempt of a task instance was dispatched to its node.
    Dispatched {
        instance: u32,
        /// Number of the attempt, starting at 1.
        attempt: u32,
    },
    Started {
        instance: u32,
        attempt: u32,
        /// Time by the clock of the node, in microseconds since the Unix epoch.
        began_at: i64,
    },
    AttemptEnded {
        instance: u32,
        attempt: u32,
        /// Time by the clock of the node, or of the server if the node did not report the result.
        ended_at: i64,
        end: AttemptEnd,
        /// Summary that the executor reported.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, value_type = Option<Object>)]
        summary: Option<JsonMap>,
        next: NextStep,
        #[serde(flatten)]
        #[schema(inline)]
        effect: HostEffect,
    },
    /// The backoff before a retry is over.
    RetryDue {
        instance: u32,
    },
    /// Task instances ended without being executed.
    Resolved {
        /// `[instance, resolution, cause]` of each task instance.
        #[schema(value_type = Vec<Vec<serde_json::Value>>, example = json!([[4, "blocked", 2], [5, "stopped"]]))]
        ends: Vec<ResolvedEnd>,
    },
    NodeLost {
        node: u32,
    },
    NodeBack {
        node: u32,
    },
    /// The node was lost for longer than the limit and counts as failed.
    NodeGivenUp {
        node: u32,
    },
    /// More nodes of the group have failed than it tolerates.
    ToleranceExceeded {
        group: u32,
        nodes: Vec<u32>,
    },
    NodeEnded {
        node: u32,
        end: NodeEnd,
    },
    /// A stop of the run was requested.
    StopAsked {
        /// `graceful` or `now`.
        #[schema(example = "graceful")]
        how: String,
    },
    Paused,
    Resumed,
    /// Result of an attempt that had been abandoned. It does not change the run.
    LateResult {
        instance: u32,
        attempt: u32,
        ended_at: i64,
        end: AttemptEnd,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, value_type = Option<Object>)]
        summary: Option<JsonMap>,
        #[serde(flatten)]
        #[schema(inline)]
        effect: HostEffect,
    },
    Ended {
        end: RunEndDetails,
    },
}

/// Result of an attempt.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct AttemptEnd {
    /// `succeeded`, `failed`, `timed_out`, `cancelled`, `interrupted` (the agent stopped), `refused`, `lost` (the node was
    /// offline for too long) or `no_answer` (the agent did not report a result).
    #[schema(example = "failed")]
    pub how: String,
    /// Message of the executor, if the attempt failed or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

/// What follows an attempt: a retry or the end of its task instance.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct NextStep {
    /// Earliest time of the retry, in microseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub retry_at: Option<i64>,
    /// Outcome of the task instance: `succeeded`, `failed`, `ignored` or `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "succeeded")]
    pub outcome: Option<String>,
}

/// What an attempt changed on its host.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct HostEffect {
    /// Whether the attempt changed the host, or in noop mode would change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changed: Option<bool>,
    /// Differences between the state of the host and its desired state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub diff: Vec<EventDifference>,
}

/// Difference between the state of a host and its desired state.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventDifference {
    /// Texts, as a unified diff.
    Text { subject: String, attribute: String, text: String },
    /// Short values; null if the attribute is absent.
    Value {
        subject: String,
        attribute: String,
        #[schema(required = true)]
        old: Option<String>,
        #[schema(required = true)]
        new: Option<String>,
    },
}

/// Task instance that ended without being executed: an array, because one event may contain a million of them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ResolvedEnd(
    /// Index of the task instance.
    pub u32,
    /// `skipped`, `blocked`, `node_failed`, `node_lost`, `stopped` or `not_retried`.
    pub String,
    /// Index of the instance or node that is the cause, or the outcome of an instance that is not retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub Option<Json>,
);

/// Outcome of a node.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct NodeEnd {
    /// `succeeded`, `failed`, `blocked`, `lost` or `stopped`.
    #[schema(example = "failed")]
    pub how: String,
    /// Task instance that failed or blocked the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub by: Option<u32>,
}

/// Outcome of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RunEndDetails {
    /// `succeeded`, `tolerated` (nodes failed within the fault tolerance), `tolerance_exceeded`, `held` (at a stage) or
    /// `stopped`.
    #[schema(example = "succeeded")]
    pub how: String,
    /// Number of failed nodes, of a tolerated run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub failed_nodes: Option<u32>,
    /// Group whose fault tolerance was exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub group: Option<u32>,
    /// Failed nodes of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nodes: Option<Vec<u32>>,
    /// Stage that holds the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub stage: Option<u32>,
    /// Task instance that holds the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub by: Option<u32>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_engine::run::{
        AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NodeOutcome, NotStarted, Resolution,
        RunOutcome, StopMode,
    };
    use stoker_engine::session::ResultKind;
    use stoker_model::{GroupIdx, HostDifference, InstanceIdx, Micros, NodeIdx, TaskReport};

    use super::*;

    const INSTANCE: InstanceIdx = InstanceIdx::new(3);
    const NODE: NodeIdx = NodeIdx::new(2);

    fn reports() -> [TaskReport; 2] {
        let diff = vec![
            HostDifference::value("nginx", "version", None, Some("1".to_owned())),
            HostDifference::text("/etc/a", "content", "-a\n+b\n".to_owned()),
        ];
        [TaskReport::default(), TaskReport { changed: Some(true), diff, ..TaskReport::default() }]
    }

    fn results() -> Vec<ResultKind> {
        let message = "no".to_owned();
        vec![
            ResultKind::Succeeded,
            ResultKind::Failed { message: message.clone() },
            ResultKind::TimedOut,
            ResultKind::Cancelled,
            ResultKind::Interrupted,
            ResultKind::Refused { message },
        ]
    }

    fn attempts_ended() -> Vec<EventKind> {
        let mut kinds = Vec::new();
        let [empty, full] = reports();
        for end in results() {
            let (instance, attempt, ended_at, report) = (INSTANCE, 1, Micros(7), full.clone());
            kinds.push(EventKind::LateResult { instance, attempt, ended_at, end, report });
        }
        let reported = results().into_iter().map(AttemptOutcome::Reported);
        for end in reported.chain([AttemptOutcome::Lost, AttemptOutcome::NoResult]) {
            let nexts = [
                Next::Retry { at: Micros(9) },
                Next::Final(InstanceOutcome::Succeeded),
                Next::Final(InstanceOutcome::Failed),
                Next::Final(InstanceOutcome::Ignored),
                Next::Final(InstanceOutcome::Cancelled),
            ];
            for (next, report) in nexts.into_iter().zip([&empty, &full].into_iter().cycle()) {
                let (end, report) = (end.clone(), report.clone());
                let (instance, attempt, ended_at) = (INSTANCE, 2, Micros(7));
                kinds.push(EventKind::AttemptEnded { instance, attempt, ended_at, end, report, next });
            }
        }
        kinds
    }

    fn kinds() -> Vec<EventKind> {
        let (group, nodes) = (GroupIdx::new(1), vec![NODE]);
        let resolutions = [
            Resolution::Skipped,
            Resolution::Blocked { by: INSTANCE },
            Resolution::NotStarted(NotStarted::NodeFailed { by: INSTANCE }),
            Resolution::NotStarted(NotStarted::NodeLost { node: NODE }),
            Resolution::NotStarted(NotStarted::Stopped),
            Resolution::NotRetried(InstanceOutcome::Failed),
        ];
        let node_ends = [
            NodeOutcome::Succeeded,
            NodeOutcome::Failed { by: INSTANCE },
            NodeOutcome::Blocked { by: INSTANCE },
            NodeOutcome::Lost,
            NodeOutcome::Stopped,
        ];
        let run_ends = [
            RunOutcome::Succeeded,
            RunOutcome::Tolerated { n_failed_nodes: 4 },
            RunOutcome::ToleranceExceeded { group, nodes: nodes.clone() },
            RunOutcome::StageHeld { stage: INSTANCE, by: INSTANCE },
            RunOutcome::Stopped,
        ];
        let mut kinds = vec![
            EventKind::Began,
            EventKind::TakenOver,
            EventKind::Dispatched { instance: INSTANCE, attempt: 1 },
            EventKind::Started { instance: INSTANCE, attempt: 1, began_at: Micros(5) },
            EventKind::RetryDue { instance: INSTANCE },
            EventKind::Resolved { ends: resolutions.map(|resolution| (INSTANCE, resolution)).to_vec() },
            EventKind::NodeLost { node: NODE },
            EventKind::NodeBack { node: NODE },
            EventKind::NodeGivenUp { node: NODE },
            EventKind::ToleranceExceeded { group, nodes },
            EventKind::StopRequested { how: StopMode::Now },
            EventKind::StopRequested { how: StopMode::Graceful },
            EventKind::Paused,
            EventKind::Resumed,
        ];
        kinds.extend(node_ends.map(|end| EventKind::NodeEnded { node: NODE, end }));
        kinds.extend(run_ends.map(|end| EventKind::Ended { end }));
        kinds.extend(attempts_ended());
        kinds
    }

    #[test]
    fn stored_events_are_returned_byte_for_byte() {
        for kind in kinds() {
            let stored = EngineEvent { at: Micros(11), kind }.to_json();
            let body = EventBody::from(stored.clone());
            assert!(matches!(body, EventBody::Known(_)), "{stored}");
            assert_eq!(serde_json::to_string(&body).unwrap(), stored.to_string());
            assert_eq!(serde_json::from_value::<EventBody>(stored).unwrap(), body);
        }
    }

    #[test]
    fn events_of_other_versions_are_returned_unchanged() {
        for stored in [
            json!({"event": "invented", "x": [1], "at": 4}),
            json!({"event": "node_lost", "at": 4}),
            json!({}),
            // Rows of older servers have no summary.
            json!({"event": "late_result", "instance": 1, "attempt": 1, "ended_at": 2, "end": {"how": "failed"}, "at": 4}),
        ] {
            let body = EventBody::from(stored.clone());
            assert_eq!(serde_json::to_string(&body).unwrap(), stored.to_string());
            assert_eq!(serde_json::from_value::<EventBody>(stored).unwrap(), body);
        }
    }
}
