//! Property tests: decoding an encoded message returns the message.

use proptest::prelude::*;
use stoker_engine::session::agent::Record;
use stoker_engine::session::{
    Attempt, AttemptKey, AttemptResult, CancelMode, CheckItem, CheckOutcome, CheckReport, CheckRequest,
    FromAgent, Generation, Hello, Mode, ResultKind, Stream, ToAgent,
};
use stoker_model::{HostDifference, InstanceIdx, Json, JsonMap, Micros, RunId, TaskReport};
use stoker_wire::record::{JournalEntry, decode_entry, encode_entry};
use stoker_wire::{Decoded, decode_from_agent, decode_to_agent, encode_from_agent, encode_to_agent};

fn text() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| text.chars().take(40).collect())
}

fn key() -> impl Strategy<Value = AttemptKey> {
    (any::<i64>(), any::<u32>(), any::<u32>()).prop_map(|(run, instance, attempt)| AttemptKey {
        run: RunId(run),
        instance: InstanceIdx::new(instance),
        attempt,
    })
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

fn map() -> impl Strategy<Value = JsonMap> {
    prop::collection::vec((text(), json()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

fn finished() -> impl Strategy<Value = AttemptResult> {
    let end = prop_oneof![
        Just(ResultKind::Succeeded),
        text().prop_map(|message| ResultKind::Failed { message }),
        Just(ResultKind::TimedOut),
        Just(ResultKind::Cancelled),
        Just(ResultKind::Interrupted),
        text().prop_map(|message| ResultKind::Refused { message }),
    ];
    (key(), any::<i64>(), end, report()).prop_map(|(key, at, end, report)| AttemptResult {
        key,
        at: Micros(at),
        end,
        report,
    })
}

fn differences() -> impl Strategy<Value = Vec<HostDifference>> {
    let value = || prop::option::of(text());
    let difference = (text(), text(), value(), value(), value()).prop_map(
        |(subject, attribute, old, new, diff)| match diff {
            Some(diff) => HostDifference::text(subject, &attribute, diff),
            None => HostDifference::value(subject, &attribute, old, new),
        },
    );
    prop::collection::vec(difference, 0..3)
}

fn check() -> impl Strategy<Value = CheckRequest> {
    let item = (text(), json()).prop_map(|(task_type, parameters)| CheckItem { task_type, parameters });
    (text(), text(), any::<u64>(), prop::collection::vec(item, 0..3), prop::collection::vec(text(), 0..3))
        .prop_map(|(id, node, timeout_ms, items, secrets)| CheckRequest {
            id,
            node,
            timeout_ms,
            items,
            secrets,
        })
}

fn checked() -> impl Strategy<Value = CheckReport> {
    let result = prop_oneof![
        differences().prop_map(|diff| CheckOutcome::Compared { diff }),
        text().prop_map(|message| CheckOutcome::Failed { message }),
    ];
    (text(), prop::collection::vec(result, 0..3)).prop_map(|(id, results)| CheckReport { id, results })
}

fn report() -> impl Strategy<Value = TaskReport> {
    (map(), any::<Option<bool>>(), differences()).prop_map(|(summary, changed, diff)| TaskReport {
        summary,
        changed,
        diff,
    })
}

fn attempt() -> impl Strategy<Value = Attempt> {
    (
        (key(), any::<u64>(), text(), text(), text()),
        (json(), any::<bool>(), any::<bool>(), any::<u64>(), prop::collection::vec(text(), 0..3)),
    )
        .prop_map(
            |(
                (key, generation, task, node, task_type),
                (parameters, is_noop, debug, timeout_ms, secrets),
            )| Attempt {
                key,
                generation: Generation(generation),
                task,
                node,
                task_type,
                parameters,
                mode: if is_noop { Mode::Noop } else { Mode::Normal },
                debug,
                timeout_ms,
                secrets,
                trace: debug.then(|| "00-1-2-3".to_owned()),
            },
        )
}

fn to_agent() -> impl Strategy<Value = ToAgent> {
    prop_oneof![
        any::<u64>().prop_map(|heartbeat_ms| ToAgent::Welcome { heartbeat_ms }),
        attempt().prop_map(ToAgent::Start),
        (key(), any::<u64>(), any::<bool>()).prop_map(|(key, generation, now)| ToAgent::Cancel {
            key,
            generation: Generation(generation),
            how: if now { CancelMode::Now } else { CancelMode::Graceful },
        }),
        prop::collection::vec(key(), 0..4).prop_map(|keys| ToAgent::Acknowledge { keys }),
        any::<i64>().prop_map(|run| ToAgent::RunEnded { run: RunId(run) }),
        check().prop_map(ToAgent::Check),
    ]
}

fn from_agent() -> impl Strategy<Value = FromAgent> {
    let hello = (
        text(),
        text(),
        prop::collection::vec(key(), 0..3),
        prop::collection::vec(finished(), 0..3),
        prop::collection::vec(any::<i64>().prop_map(RunId), 0..3),
        map(),
        prop::option::of(text()),
    )
        .prop_map(|(node, version, running, finished, runs, facts, journal_id)| {
            FromAgent::Hello(Hello { node: node.into(), version, running, finished, runs, facts, journal_id })
        });
    prop_oneof![
        hello,
        Just(FromAgent::Heartbeat),
        map().prop_map(FromAgent::Facts),
        (key(), any::<i64>()).prop_map(|(key, at)| FromAgent::Started { key, at: Micros(at) }),
        (key(), any::<bool>(), any::<u64>(), text()).prop_map(|(key, is_err, offset, text)| {
            FromAgent::Output { key, stream: if is_err { Stream::Err } else { Stream::Out }, offset, text }
        }),
        finished().prop_map(FromAgent::Finished),
        checked().prop_map(FromAgent::Checked),
    ]
}

fn entry() -> impl Strategy<Value = JournalEntry> {
    prop_oneof![
        (key(), any::<u64>()).prop_map(|(key, generation)| JournalEntry::Session(Record::Accepted {
            key,
            generation: Generation(generation)
        })),
        finished().prop_map(|finished| JournalEntry::Session(Record::Ended(finished))),
        key().prop_map(|key| JournalEntry::Session(Record::Acknowledged { key })),
        any::<i64>().prop_map(|run| JournalEntry::Session(Record::RunEnded { run: RunId(run) })),
        (key(), any::<i32>(), any::<u64>()).prop_map(|(key, pid, started)| JournalEntry::Process {
            key,
            pid,
            started
        }),
        (key(), text()).prop_map(|(key, boot_id)| JournalEntry::Rebooting { key, boot_id }),
    ]
}

proptest! {
    #[test]
    fn to_agent_messages_round_trip(message in to_agent()) {
        prop_assert_eq!(decode_to_agent(&encode_to_agent(&message)), Ok(Decoded::Message(message)));
    }

    #[test]
    fn from_agent_messages_round_trip(message in from_agent()) {
        prop_assert_eq!(decode_from_agent(&encode_from_agent(&message)), Ok(Decoded::Message(message)));
    }

    #[test]
    fn journal_entries_round_trip(entry in entry()) {
        prop_assert_eq!(decode_entry(&encode_entry(&entry)), Ok(entry));
    }

    #[test]
    fn truncated_messages_are_rejected(message in from_agent(), at in 0..4000_usize, byte in "[ -~]") {
        let mut text = encode_from_agent(&message);
        let at = text.floor_char_boundary(at.min(text.len()));
        text.truncate(at);
        // Every proper prefix is an unterminated JSON object.
        prop_assert!(at >= encode_from_agent(&message).len() || decode_from_agent(&text).is_err());
        text.push_str(&byte);
        _ = decode_from_agent(&text);
        _ = decode_to_agent(&text);
    }
}
