//! Maps engine events to database rows. Indexed fields are stored in their own columns instead of the JSON
//! body.

use stoker_engine::run::{EngineEvent, EventFormatError};
use stoker_model::{Json, Micros, RunEvent};

const KIND: &str = "event";
const INSTANCE: &str = "instance";
const AT: &str = "at";

/// Encodes an event with its sequence number.
pub(crate) fn encode(event: &EngineEvent, seq: i64) -> RunEvent {
    let mut body = event.to_json();
    let mut take = |key: &str| body.as_object_mut().and_then(|map| map.remove(key));
    let kind = take(KIND).and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
    let instance = take(INSTANCE).and_then(|instance| instance.as_i64());
    take(AT);
    RunEvent { seq, at: event.at, kind, instance, body }
}

pub(crate) fn decode(stored: &RunEvent) -> Result<EngineEvent, EventFormatError> {
    let RunEvent { at: Micros(at), kind, instance, body, .. } = stored;
    let mut json = body.clone();
    if let Some(map) = json.as_object_mut() {
        map.insert(KIND.to_owned(), Json::from(kind.as_str()));
        map.insert(AT.to_owned(), Json::from(*at));
        if let Some(instance) = instance {
            map.insert(INSTANCE.to_owned(), Json::from(*instance));
        }
    }
    EngineEvent::from_json(&json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stoker_engine::run::EventKind;
    use stoker_model::{InstanceIdx, NodeIdx};

    use super::*;

    #[test]
    fn events_round_trip() {
        let kinds = [
            EventKind::Began,
            EventKind::Dispatched { instance: InstanceIdx::new(3), attempt: 2 },
            EventKind::NodeLost { node: NodeIdx::new(1) },
            EventKind::RetryDue { instance: InstanceIdx::new(0) },
        ];
        for kind in kinds {
            let event = EngineEvent { at: Micros(11), kind };
            let stored = encode(&event, 8);
            assert_eq!(stored.seq, 8);
            assert_eq!(decode(&stored).ok(), Some(event), "{stored:?}");
        }
        let dispatched = encode(
            &EngineEvent {
                at: Micros(1),
                kind: EventKind::Dispatched { instance: InstanceIdx::new(3), attempt: 2 },
            },
            1,
        );
        assert_eq!((dispatched.kind.as_str(), dispatched.instance), ("dispatched", Some(3)));
        assert_eq!(dispatched.body, json!({"attempt": 2}));
    }

    #[test]
    fn invalid_rows_are_rejected() {
        let right = encode(
            &EngineEvent {
                at: Micros(1),
                kind: EventKind::Dispatched { instance: InstanceIdx::new(1), attempt: 1 },
            },
            8,
        );
        let wrong = [
            RunEvent { kind: "exploded".to_owned(), ..right.clone() },
            RunEvent { instance: None, ..right.clone() },
            RunEvent { instance: Some(-1), ..right.clone() },
            RunEvent { body: json!({"attempt": "1"}), ..right.clone() },
            RunEvent { body: json!([]), ..right },
        ];
        for event in wrong {
            assert!(decode(&event).is_err(), "{event:?}");
        }
    }
}
