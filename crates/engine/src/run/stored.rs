//! JSON representation of stored events.
//!
//! Databases contain these keys and values, and a program must read what earlier versions wrote: add to them,
//! never change them. An unknown value is an error, not a guess.

use std::fmt;

use serde_json::json;
use stoker_model::{GroupIdx, InstanceIdx, Json, Micros, NodeIdx, TaskReport};

use super::end::{NodeOutcome, RunOutcome};
use super::event::{AttemptOutcome, EngineEvent, EventKind, InstanceOutcome, Next, NotStarted, Resolution};
use super::input::StopMode;
use crate::session::ResultKind;

/// A stored event that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormatError {
    /// The missing or unknown key or value.
    pub reason: String,
}

impl fmt::Display for EventFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read a stored event: {}", self.reason)
    }
}

impl std::error::Error for EventFormatError {}

impl EngineEvent {
    pub fn to_json(&self) -> Json {
        let mut json = match &self.kind {
            EventKind::Began => json!({"event": "began"}),
            EventKind::TakenOver => json!({"event": "taken_over"}),
            EventKind::Dispatched { instance, attempt } => {
                json!({"event": "dispatched", "instance": instance.get(), "attempt": attempt})
            }
            EventKind::Started { instance, attempt, began_at } => {
                json!({"event": "started", "instance": instance.get(), "attempt": attempt, "began_at": began_at.0})
            }
            EventKind::AttemptEnded { instance, attempt, ended_at, end, report, next } => json!({
                "event": "attempt_ended", "instance": instance.get(), "attempt": attempt, "ended_at": ended_at.0,
                "end": attempt_end_json(end), "summary": report.summary, "next": next_json(*next),
            }),
            EventKind::RetryDue { instance } => json!({"event": "retry_due", "instance": instance.get()}),
            EventKind::Resolved { ends } => {
                let ends: Vec<Json> =
                    ends.iter().map(|(idx, resolution)| resolution_json(*idx, *resolution)).collect();
                json!({"event": "resolved", "ends": ends})
            }
            EventKind::NodeLost { node } => json!({"event": "node_lost", "node": node.get()}),
            EventKind::NodeBack { node } => json!({"event": "node_back", "node": node.get()}),
            EventKind::NodeGivenUp { node } => json!({"event": "node_given_up", "node": node.get()}),
            EventKind::ToleranceExceeded { group, nodes } => {
                json!({"event": "tolerance_exceeded", "group": group.get(), "nodes": node_numbers(nodes)})
            }
            EventKind::NodeEnded { node, end } => {
                json!({"event": "node_ended", "node": node.get(), "end": node_end_json(*end)})
            }
            EventKind::StopRequested { how } => {
                let how = if *how == StopMode::Now { "now" } else { "graceful" };
                json!({"event": "stop_asked", "how": how})
            }
            EventKind::Paused => json!({"event": "paused"}),
            EventKind::Resumed => json!({"event": "resumed"}),
            EventKind::LateResult { instance, attempt, ended_at, end, report } => json!({
                "event": "late_result", "instance": instance.get(), "attempt": attempt, "ended_at": ended_at.0,
                "end": result_json(end), "summary": report.summary,
            }),
            EventKind::Ended { end } => json!({"event": "ended", "end": run_end_json(end)}),
        };
        if let (
            EventKind::AttemptEnded { report, .. } | EventKind::LateResult { report, .. },
            Json::Object(object),
        ) = (&self.kind, &mut json)
        {
            report.write_to(object);
        }
        json["at"] = self.at.0.into();
        json
    }

    pub fn from_json(json: &Json) -> Result<Self, EventFormatError> {
        let get = Fields(json);
        let kind = match get.text("event")? {
            "began" => EventKind::Began,
            "taken_over" => EventKind::TakenOver,
            "dispatched" => {
                EventKind::Dispatched { instance: get.instance("instance")?, attempt: get.number("attempt")? }
            }
            "started" => EventKind::Started {
                instance: get.instance("instance")?,
                attempt: get.number("attempt")?,
                began_at: get.time("began_at")?,
            },
            "attempt_ended" => EventKind::AttemptEnded {
                instance: get.instance("instance")?,
                attempt: get.number("attempt")?,
                ended_at: get.time("ended_at")?,
                end: get.nested("end", read_attempt_end)?,
                report: get.report()?,
                next: get.nested("next", read_next)?,
            },
            "retry_due" => EventKind::RetryDue { instance: get.instance("instance")? },
            "resolved" => {
                let ends = get.list("ends")?.iter().map(read_resolved).collect::<Result<_, _>>()?;
                EventKind::Resolved { ends }
            }
            "node_lost" => EventKind::NodeLost { node: get.node("node")? },
            "node_back" => EventKind::NodeBack { node: get.node("node")? },
            "node_given_up" => EventKind::NodeGivenUp { node: get.node("node")? },
            "tolerance_exceeded" => EventKind::ToleranceExceeded { group: get.group()?, nodes: get.nodes()? },
            "node_ended" => {
                EventKind::NodeEnded { node: get.node("node")?, end: get.nested("end", read_node_end)? }
            }
            "stop_asked" => EventKind::StopRequested {
                how: match get.text("how")? {
                    "now" => StopMode::Now,
                    "graceful" => StopMode::Graceful,
                    other => return Err(unknown(other)),
                },
            },
            "paused" => EventKind::Paused,
            "resumed" => EventKind::Resumed,
            "late_result" => EventKind::LateResult {
                instance: get.instance("instance")?,
                attempt: get.number("attempt")?,
                ended_at: get.time("ended_at")?,
                end: get.nested("end", read_reported)?,
                report: get.report()?,
            },
            "ended" => EventKind::Ended { end: get.nested("end", read_run_end)? },
            other => return Err(unknown(other)),
        };
        Ok(Self { at: get.time("at")?, kind })
    }
}

fn attempt_end_json(end: &AttemptOutcome) -> Json {
    match end {
        AttemptOutcome::Reported(end) => result_json(end),
        AttemptOutcome::Lost => json!({"how": "lost"}),
        AttemptOutcome::NoResult => json!({"how": "no_answer"}),
    }
}

fn read_attempt_end(get: Fields<'_>) -> Result<AttemptOutcome, EventFormatError> {
    match get.text("how")? {
        "lost" => Ok(AttemptOutcome::Lost),
        "no_answer" => Ok(AttemptOutcome::NoResult),
        _ => read_reported(get).map(AttemptOutcome::Reported),
    }
}

fn result_json(end: &ResultKind) -> Json {
    match end {
        ResultKind::Succeeded => json!({"how": "succeeded"}),
        ResultKind::Failed { message } => json!({"how": "failed", "message": message}),
        ResultKind::TimedOut => json!({"how": "timed_out"}),
        ResultKind::Cancelled => json!({"how": "cancelled"}),
        ResultKind::Interrupted => json!({"how": "interrupted"}),
        ResultKind::Refused { message } => json!({"how": "refused", "message": message}),
    }
}

fn read_reported(get: Fields<'_>) -> Result<ResultKind, EventFormatError> {
    Ok(match get.text("how")? {
        "succeeded" => ResultKind::Succeeded,
        "failed" => ResultKind::Failed { message: get.text("message")?.to_owned() },
        "timed_out" => ResultKind::TimedOut,
        "cancelled" => ResultKind::Cancelled,
        "interrupted" => ResultKind::Interrupted,
        "refused" => ResultKind::Refused { message: get.text("message")?.to_owned() },
        other => return Err(unknown(other)),
    })
}

fn next_json(next: Next) -> Json {
    match next {
        Next::Retry { at } => json!({"retry_at": at.0}),
        Next::Final(outcome) => json!({"outcome": outcome_word(outcome)}),
    }
}

fn read_next(get: Fields<'_>) -> Result<Next, EventFormatError> {
    match get.text("outcome") {
        Ok(word) => read_outcome(word).map(Next::Final),
        Err(_) => Ok(Next::Retry { at: get.time("retry_at")? }),
    }
}

fn outcome_word(outcome: InstanceOutcome) -> &'static str {
    match outcome {
        InstanceOutcome::Succeeded => "succeeded",
        InstanceOutcome::Failed => "failed",
        InstanceOutcome::Ignored => "ignored",
        InstanceOutcome::Cancelled => "cancelled",
    }
}

fn read_outcome(word: &str) -> Result<InstanceOutcome, EventFormatError> {
    Ok(match word {
        "succeeded" => InstanceOutcome::Succeeded,
        "failed" => InstanceOutcome::Failed,
        "ignored" => InstanceOutcome::Ignored,
        "cancelled" => InstanceOutcome::Cancelled,
        other => return Err(unknown(other)),
    })
}

/// Encodes a resolution as an array instead of an object, because one event may contain a million of them.
fn resolution_json(idx: InstanceIdx, resolution: Resolution) -> Json {
    match resolution {
        Resolution::Skipped => json!([idx.get(), "skipped"]),
        Resolution::Blocked { by } => json!([idx.get(), "blocked", by.get()]),
        Resolution::NotStarted(NotStarted::NodeFailed { by }) => json!([idx.get(), "node_failed", by.get()]),
        Resolution::NotStarted(NotStarted::NodeLost { node }) => json!([idx.get(), "node_lost", node.get()]),
        Resolution::NotStarted(NotStarted::Stopped) => json!([idx.get(), "stopped"]),
        Resolution::NotRetried(outcome) => json!([idx.get(), "not_retried", outcome_word(outcome)]),
    }
}

fn read_resolved(json: &Json) -> Result<(InstanceIdx, Resolution), EventFormatError> {
    let item = |idx: usize| json.get(idx).ok_or_else(|| missing("an end"));
    let number = |idx: usize| item(idx).and_then(|it| small(it).ok_or_else(|| missing("a number")));
    let word = |idx: usize| item(idx).and_then(|it| it.as_str().ok_or_else(|| missing("a word")));
    let resolution = match word(1)? {
        "skipped" => Resolution::Skipped,
        "blocked" => Resolution::Blocked { by: InstanceIdx::new(number(2)?) },
        "node_failed" => Resolution::NotStarted(NotStarted::NodeFailed { by: InstanceIdx::new(number(2)?) }),
        "node_lost" => Resolution::NotStarted(NotStarted::NodeLost { node: NodeIdx::new(number(2)?) }),
        "stopped" => Resolution::NotStarted(NotStarted::Stopped),
        "not_retried" => Resolution::NotRetried(read_outcome(word(2)?)?),
        other => return Err(unknown(other)),
    };
    Ok((InstanceIdx::new(number(0)?), resolution))
}

fn node_end_json(end: NodeOutcome) -> Json {
    match end {
        NodeOutcome::Succeeded => json!({"how": "succeeded"}),
        NodeOutcome::Failed { by } => json!({"how": "failed", "by": by.get()}),
        NodeOutcome::Blocked { by } => json!({"how": "blocked", "by": by.get()}),
        NodeOutcome::Lost => json!({"how": "lost"}),
        NodeOutcome::Stopped => json!({"how": "stopped"}),
    }
}

fn read_node_end(get: Fields<'_>) -> Result<NodeOutcome, EventFormatError> {
    Ok(match get.text("how")? {
        "succeeded" => NodeOutcome::Succeeded,
        "failed" => NodeOutcome::Failed { by: get.instance("by")? },
        "blocked" => NodeOutcome::Blocked { by: get.instance("by")? },
        "lost" => NodeOutcome::Lost,
        "stopped" => NodeOutcome::Stopped,
        other => return Err(unknown(other)),
    })
}

fn run_end_json(end: &RunOutcome) -> Json {
    match end {
        RunOutcome::Succeeded => json!({"how": "succeeded"}),
        RunOutcome::Tolerated { n_failed_nodes } => {
            json!({"how": "tolerated", "failed_nodes": n_failed_nodes})
        }
        RunOutcome::ToleranceExceeded { group, nodes } => {
            json!({"how": "tolerance_exceeded", "group": group.get(), "nodes": node_numbers(nodes)})
        }
        RunOutcome::StageHeld { stage, by } => json!({"how": "held", "stage": stage.get(), "by": by.get()}),
        RunOutcome::Stopped => json!({"how": "stopped"}),
    }
}

fn read_run_end(get: Fields<'_>) -> Result<RunOutcome, EventFormatError> {
    Ok(match get.text("how")? {
        "succeeded" => RunOutcome::Succeeded,
        "tolerated" => RunOutcome::Tolerated { n_failed_nodes: get.number("failed_nodes")? },
        "tolerance_exceeded" => RunOutcome::ToleranceExceeded { group: get.group()?, nodes: get.nodes()? },
        "held" => RunOutcome::StageHeld { stage: get.instance("stage")?, by: get.instance("by")? },
        "stopped" => RunOutcome::Stopped,
        other => return Err(unknown(other)),
    })
}

/// Fields of a stored event, or of a nested object.
#[derive(Clone, Copy)]
struct Fields<'j>(&'j Json);

impl<'j> Fields<'j> {
    fn get(self, key: &str) -> Result<&'j Json, EventFormatError> {
        self.0.get(key).ok_or_else(|| missing(key))
    }

    fn text(self, key: &str) -> Result<&'j str, EventFormatError> {
        self.get(key)?.as_str().ok_or_else(|| missing(key))
    }

    fn number(self, key: &str) -> Result<u32, EventFormatError> {
        small(self.get(key)?).ok_or_else(|| missing(key))
    }

    fn time(self, key: &str) -> Result<Micros, EventFormatError> {
        self.get(key)?.as_i64().map(Micros).ok_or_else(|| missing(key))
    }

    fn list(self, key: &str) -> Result<&'j [Json], EventFormatError> {
        self.get(key)?.as_array().map(Vec::as_slice).ok_or_else(|| missing(key))
    }

    fn instance(self, key: &str) -> Result<InstanceIdx, EventFormatError> {
        self.number(key).map(InstanceIdx::new)
    }

    fn node(self, key: &str) -> Result<NodeIdx, EventFormatError> {
        self.number(key).map(NodeIdx::new)
    }

    fn group(self) -> Result<GroupIdx, EventFormatError> {
        self.number("group").map(GroupIdx::new)
    }

    fn nodes(self) -> Result<Vec<NodeIdx>, EventFormatError> {
        let nodes = self.list("nodes")?.iter();
        nodes.map(|it| small(it).map(NodeIdx::new).ok_or_else(|| missing("nodes"))).collect()
    }

    fn report(self) -> Result<TaskReport, EventFormatError> {
        TaskReport::read_from(self.0).ok_or_else(|| missing("summary"))
    }

    fn nested<T>(
        self,
        key: &str,
        read: fn(Self) -> Result<T, EventFormatError>,
    ) -> Result<T, EventFormatError> {
        read(Fields(self.get(key)?))
    }
}

fn node_numbers(nodes: &[NodeIdx]) -> Vec<u32> {
    nodes.iter().map(|node| node.get()).collect()
}

fn small(json: &Json) -> Option<u32> {
    json.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn missing(what: &str) -> EventFormatError {
    EventFormatError { reason: format!("`{what}` is missing or has the wrong type") }
}

fn unknown(word: &str) -> EventFormatError {
    EventFormatError { reason: format!("unknown value `{word}`; a newer version may have written it") }
}
