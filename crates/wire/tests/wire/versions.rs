//! Compatibility with adjacent protocol versions. Messages of version 1 are stored as golden files; messages
//! of the next version are simulated by adding unknown fields and types to current messages.

use serde_json::{Value as Json, json};
use stoker_engine::session::{FromAgent, Hello};
use stoker_wire::join::{JoinRequest, JoinResponse, JournalIdentity};
use stoker_wire::record::{decode_entry, encode_entry};
use stoker_wire::{
    Decoded, PROTOCOL_VERSION, WireError, decode_from_agent, decode_refusal, decode_to_agent,
    encode_from_agent, encode_refusal, encode_to_agent,
};

/// Decodes a text and encodes it again; `None` for an unknown message type.
type Rewrite = fn(&str) -> Result<Option<String>, WireError>;

const KINDS: &[(&str, &str, Rewrite)] = &[
    ("to_agent", include_str!("golden/version_1.to_agent.jsonl"), |text| {
        Ok(match decode_to_agent(text)? {
            Decoded::Message(message) => Some(encode_to_agent(&message)),
            Decoded::Unknown => None,
        })
    }),
    ("from_agent", include_str!("golden/version_1.from_agent.jsonl"), |text| {
        Ok(match decode_from_agent(text)? {
            Decoded::Message(message) => Some(encode_from_agent(&message)),
            Decoded::Unknown => None,
        })
    }),
    ("journal", include_str!("golden/version_1.journal.jsonl"), |text| {
        Ok(Some(encode_entry(&decode_entry(text)?)))
    }),
    ("join_request", include_str!("golden/version_1.join_request.jsonl"), |text| {
        Ok(Some(
            serde_json::to_string(&serde_json::from_str::<JoinRequest>(text).expect("JSON")).expect("JSON"),
        ))
    }),
    ("join_answer", include_str!("golden/version_1.join_answer.jsonl"), |text| {
        Ok(Some(
            serde_json::to_string(&serde_json::from_str::<JoinResponse>(text).expect("JSON")).expect("JSON"),
        ))
    }),
];

fn lines() -> impl Iterator<Item = (&'static str, &'static str, Rewrite)> {
    KINDS.iter().flat_map(|(kind, text, rewrite)| text.lines().map(move |line| (*kind, line, *rewrite)))
}

fn parse(text: &str) -> Json {
    serde_json::from_str(text).expect("JSON")
}

/// Reports whether `actual` contains all of `expected`, that is, whether a reader that ignores unknown fields
/// decodes both alike.
fn contains(actual: &Json, expected: &Json) -> bool {
    match (actual, expected) {
        (Json::Object(actual), Json::Object(expected)) => expected.iter().all(|(key, value)| {
            key == "wire_version" || actual.get(key).is_some_and(|actual| contains(actual, value))
        }),
        (Json::Array(actual), Json::Array(expected)) => {
            actual.len() == expected.len()
                && actual.iter().zip(expected).all(|(actual, expected)| contains(actual, expected))
        }
        (actual, expected) => actual == expected,
    }
}

/// Adds an unknown field to every protocol object. User data (parameters, facts, summaries) is left
/// unchanged.
fn with_unknown_fields(value: &mut Json) {
    match value {
        Json::Object(map) => {
            for (key, value) in map.iter_mut() {
                if !matches!(key.as_str(), "parameters" | "facts" | "summary") {
                    with_unknown_fields(value);
                }
            }
            map.insert("of_tomorrow".to_owned(), json!({"deep": [1, null]}));
        }
        Json::Array(items) => items.iter_mut().for_each(with_unknown_fields),
        _ => {}
    }
}

#[test]
fn version_1_messages_decode_and_reencode_compatibly() {
    for (kind, line, rewrite) in lines() {
        let written = rewrite(line).unwrap_or_else(|error| panic!("{kind}: {error}: {line}"));
        let written = written.unwrap_or_else(|| panic!("{kind}: unknown: {line}"));
        // All fields that a version 1 reader knows are present and unchanged.
        assert!(contains(&parse(&written), &parse(line)), "{kind}: {line}\nbecame {written}");
    }
}

#[test]
fn messages_of_the_next_version_decode() {
    for (kind, line, rewrite) in lines() {
        let ours = rewrite(line).expect("JSON").expect("JSON");
        let mut next = parse(&ours);
        with_unknown_fields(&mut next);
        if let Some(hello) = next.get_mut("hello") {
            hello["wire_version"] = json!(PROTOCOL_VERSION + 1);
        }
        assert_eq!(rewrite(&next.to_string()), Ok(Some(ours)), "{kind}: {next}");
    }
}

#[test]
fn unknown_kinds_of_the_next_version_are_ignored() {
    for (kind, _, rewrite) in KINDS.iter().filter(|(kind, ..)| kind.ends_with("agent")) {
        assert_eq!(rewrite(r#"{"kind": "of_tomorrow", "key": 5}"#), Ok(None), "{kind}");
    }
}

/// The golden files contain every message type. A type added in a later version belongs in the files of that
/// version.
#[test]
fn golden_files_contain_every_kind_of_version_1() {
    let kinds = |format: &str| {
        let mut kinds: Vec<String> = lines()
            .filter(|(kind, ..)| *kind == format)
            .map(|(_, line, _)| parse(line)["kind"].as_str().unwrap_or_default().to_owned())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds("to_agent"), ["acknowledge", "cancel", "run_ended", "start", "welcome"]);
    assert_eq!(kinds("from_agent"), ["facts", "finished", "heartbeat", "hello", "output", "started"]);
    assert_eq!(kinds("journal"), ["accepted", "acknowledged", "ended", "process", "rebooting", "run_ended"]);
}

#[test]
fn incompatible_versions_name_the_side_to_upgrade() {
    let hello = |version: &str| {
        decode_from_agent(&format!(
            r#"{{"kind": "hello", "hello": {{{version} "node": "1", "version": "1"}}}}"#
        ))
    };
    for near in [PROTOCOL_VERSION - 1, PROTOCOL_VERSION, PROTOCOL_VERSION + 1] {
        assert!(hello(&format!(r#""wire_version": {near},"#)).is_ok(), "{near}");
    }
    for (far, who) in
        [("0", "upgrade the agent"), (&(PROTOCOL_VERSION + 2).to_string(), "upgrade the server")]
    {
        let error = hello(&format!(r#""wire_version": {far},"#)).unwrap_err();
        assert!(error.to_string().ends_with(who), "{error}");
        assert_eq!(decode_refusal(&encode_refusal(&error.to_string())), Some(error.to_string()));
    }
    assert!(matches!(hello(""), Err(WireError::Version { theirs: 0, .. })));
    for other in ["", "{}", r#"{"kind": "refused"}"#, r#"{"kind": "welcome", "heartbeat_ms": 1}"#] {
        assert_eq!(decode_refusal(other), None, "{other}");
    }
    // Version 1 decodes the refusal as an unknown message type and ignores it.
    assert_eq!(decode_to_agent(&encode_refusal("x")), Ok(Decoded::Unknown));
}

/// Agents and servers of a version without journal identities ignore and omit them.
#[test]
fn journal_identity_is_optional() {
    let text =
        r#"{"kind":"hello","hello":{"wire_version":1,"node":"1","version":"0.1.0","journal_id":"0af7"}}"#;
    let Ok(Decoded::Message(FromAgent::Hello(hello))) = decode_from_agent(text) else { panic!() };
    assert_eq!(hello.journal_id.as_deref(), Some("0af7"));
    let without = FromAgent::Hello(Hello { journal_id: None, ..hello });
    assert!(!encode_from_agent(&without).contains("journal_id"));
    let request = |text: &str| serde_json::from_str::<JoinRequest>(text).map(|request| request.journal);
    assert_eq!(request(r#"{"token":"t","node":"n"}"#).unwrap(), None);
    let journal = JournalIdentity { id: "0af7".to_owned(), node_uid: None };
    assert_eq!(request(r#"{"token":"t","node":"n","journal":{"id":"0af7"}}"#).unwrap(), Some(journal));
    for wrong in [r#"{"token":"t","node":"n","journal":"0af7"}"#, r#"{"token":"t","node":"n","journal":{}}"#]
    {
        assert!(request(wrong).is_err(), "{wrong}");
    }
}
