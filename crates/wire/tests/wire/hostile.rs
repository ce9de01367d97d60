//! Malformed and oversized messages.

use stoker_wire::{Decoded, WireError, decode_from_agent, decode_to_agent};

#[test]
fn unknown_kinds_are_distinguished_from_malformed_messages() {
    assert_eq!(decode_to_agent(r#"{"kind": "dance", "tempo": 3}"#), Ok(Decoded::Unknown));
    assert_eq!(decode_from_agent(r#"{"kind": "sing"}"#), Ok(Decoded::Unknown));
    assert!(matches!(decode_from_agent(r#"{"kind": "heartbeat", "mood": "good"}"#), Ok(Decoded::Message(_))));
}

#[test]
fn malformed_messages_are_rejected() {
    let deep = format!("{{\"kind\":\"facts\",\"facts\":{{\"a\":{}{}}}}}", "[".repeat(5000), "]".repeat(5000));
    let texts = [
        "",
        "null",
        "[]",
        "{}",
        r#"{"kind": 5}"#,
        r#"{"kind": "started"}"#,
        r#"{"kind": "started", "key": {"run": 1, "instance": -1, "attempt": 1}, "at": 0}"#,
        r#"{"kind": "started", "key": {"run": 1e99, "instance": 1, "attempt": 1}, "at": 0}"#,
        r#"{"kind": "hello", "hello": {"wire_version": -1, "node": "1", "version": "1"}}"#,
        r#"{"kind": "heartbeat"} and more"#,
        "\u{feff}{}",
        &deep,
    ];
    for text in texts {
        let error = decode_from_agent(text).expect_err(text);
        assert!(matches!(error, WireError::Malformed { .. }), "{error}");
    }
}

#[test]
fn oversized_messages_are_rejected_before_parsing() {
    let text = " ".repeat(stoker_wire::FROM_AGENT_BYTES_MAX + 1);
    assert!(matches!(decode_from_agent(&text), Err(WireError::TooLarge { .. })));
    let text = " ".repeat(stoker_wire::TO_AGENT_BYTES_MAX + 1);
    assert!(matches!(decode_to_agent(&text), Err(WireError::TooLarge { .. })));
    let key = r#"{"run": 1, "instance": 1, "attempt": 1}"#;
    let output = |n: usize| {
        let text = "x".repeat(n);
        format!(r#"{{"kind": "output", "key": {key}, "stream": "out", "offset": 0, "text": "{text}"}}"#)
    };
    assert!(decode_from_agent(&output(1 << 20)).is_ok());
    let error = decode_from_agent(&output((1 << 20) + 1)).unwrap_err();
    assert_eq!(error.to_string(), "message field `text` exceeds the limit of 1048576");
    let name = "n".repeat(2000);
    let hello =
        format!(r#"{{"kind": "hello", "hello": {{"wire_version": 1, "node": "{name}", "version": "1"}}}}"#);
    assert!(matches!(decode_from_agent(&hello), Err(WireError::FieldTooLarge { field: "node", .. })));
    let hello = format!(
        r#"{{"kind": "hello", "hello": {{"wire_version": 1, "node": "1", "version": "1", "journal_id": "{name}"}}}}"#
    );
    assert!(matches!(decode_from_agent(&hello), Err(WireError::FieldTooLarge { field: "journal_id", .. })));
}
