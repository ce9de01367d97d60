//! Stored events: the format must not change, and unreadable events are reported.

use serde_json::json;
use stoker_engine::run::{EngineEvent, EventKind, Input, InstanceOutcome, NotStarted, Resolution, StopMode};
use stoker_engine::session::ResultKind;
use stoker_model::{InstanceIdx, Micros, NodeIdx};

use crate::small::Sketch;

#[test]
fn event_format_is_stable() {
    let mut play = Sketch::new("a@1 > b@1 a@2").tolerant().begin();
    play.fail("a@1").give(Input::Pause).give(Input::Resume).stop(StopMode::Graceful).ok("a@2");
    let lines: Vec<String> = play.events.iter().map(|event| event.to_json().to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"event":"began","at":1000000}
    {"event":"dispatched","instance":0,"attempt":1,"at":1000000}
    {"event":"dispatched","instance":2,"attempt":1,"at":1000000}
    {"event":"attempt_ended","instance":0,"attempt":1,"ended_at":1000000,"end":{"how":"failed","message":"no"},"summary":{},"next":{"outcome":"failed"},"at":1000000}
    {"event":"node_ended","node":0,"end":{"how":"failed","by":0},"at":1000000}
    {"event":"resolved","ends":[[1,"blocked",0]],"at":1000000}
    {"event":"paused","at":1000000}
    {"event":"resumed","at":1000000}
    {"event":"stop_asked","how":"graceful","at":1000000}
    {"event":"attempt_ended","instance":2,"attempt":1,"ended_at":1000000,"end":{"how":"succeeded"},"summary":{},"next":{"outcome":"succeeded"},"at":1000000}
    {"event":"node_ended","node":1,"end":{"how":"succeeded"},"at":1000000}
    {"event":"ended","end":{"how":"tolerated","failed_nodes":1},"at":1000000}
    "#);
}

/// Events of every type as written by version 1. Servers of adjacent versions take over runs from each other,
/// so each must read the other's events: this version writes all fields that version 1 reads, and ignores
/// unknown additions.
#[test]
fn events_of_adjacent_versions_are_readable() {
    let mut kinds = Vec::new();
    for line in include_str!("golden/events_version_1.jsonl").lines() {
        let json: serde_json::Value = serde_json::from_str(line).expect(line);
        let event = EngineEvent::from_json(&json).expect(line);
        assert_eq!(event.to_json(), json);
        let mut next = json.clone();
        next["of_tomorrow"] = json!({"deep": [1]});
        if next.get("end").is_some() {
            next["end"]["of_tomorrow"] = json!(1);
        }
        assert_eq!(EngineEvent::from_json(&next), Ok(event), "{next}");
        kinds.push(json["event"].as_str().expect("a kind").to_owned());
    }
    kinds.dedup();
    assert_eq!(kinds.len(), 17, "{kinds:?}");
}

#[test]
fn all_resolutions_round_trip() {
    let ends = vec![
        (1, Resolution::Skipped),
        (2, Resolution::Blocked { by: InstanceIdx::new(7) }),
        (3, Resolution::NotStarted(NotStarted::NodeFailed { by: InstanceIdx::new(7) })),
        (4, Resolution::NotStarted(NotStarted::NodeLost { node: NodeIdx::new(1) })),
        (5, Resolution::NotStarted(NotStarted::Stopped)),
        (6, Resolution::NotRetried(InstanceOutcome::Ignored)),
    ];
    let ends = ends.into_iter().map(|(idx, resolution)| (InstanceIdx::new(idx), resolution)).collect();
    let event = EngineEvent { at: Micros(1), kind: EventKind::Resolved { ends } };
    assert_eq!(EngineEvent::from_json(&event.to_json()), Ok(event.clone()));
    let expected = json!([
        [1, "skipped"],
        [2, "blocked", 7],
        [3, "node_failed", 7],
        [4, "node_lost", 1],
        [5, "stopped"],
        [6, "not_retried", "ignored"]
    ]);
    assert_eq!(event.to_json()["ends"], expected);
}

#[test]
fn unreadable_events_are_reported() {
    let error = |json: serde_json::Value| EngineEvent::from_json(&json).expect_err("unreadable").to_string();
    assert!(error(json!({"event": "teleported", "at": 1})).contains("unknown value `teleported`"));
    assert!(error(json!({"event": "began"})).contains("`at` is missing"));
    assert!(
        error(json!({"event": "node_lost", "at": 1, "node": -1}))
            .contains("`node` is missing or has the wrong type")
    );
    assert!(error(json!({"event": "resolved", "at": 1, "ends": [[1]]})).contains("`an end` is missing"));
    assert!(error(json!([])).contains("`event` is missing"));
    let incomplete = json!({"event": "ended", "at": 1, "end": {"how": "held", "stage": 1}});
    assert!(error(incomplete).contains("`by` is missing"));
}

#[test]
fn result_messages_round_trip() {
    let mut play = Sketch::new("a@1").begin();
    play.end("a@1", ResultKind::Refused { message: "full".to_owned() });
    let ended = play.events.iter().find(|event| matches!(event.kind, EventKind::AttemptEnded { .. }));
    let json = ended.expect("it ended").to_json();
    assert_eq!(
        (&json["end"], &json["next"]),
        (&json!({"how": "refused", "message": "full"}), &json!({"outcome": "failed"}))
    );
}
