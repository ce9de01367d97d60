//! `stoker yaql --jsonl`: the JSON Lines protocol of the real binary.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;

use program::run_bytes;
use serde_json::{Value, json};
use stoker_yaql::json::{self, WriteOptions};

fn send_requests(input: &[u8]) -> Vec<Value> {
    let output = run_bytes(&["yaql", "--jsonl"], input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn error_class(response: &Value) -> &str {
    response["err"].as_str().unwrap()
}

#[test]
fn requests_are_answered_in_order() {
    let input = b"{\"expr\": \"$ + $x\", \"data\": 1, \"vars\": {\"x\": 2}, \"id\": \"a\"}\n\n   \n{\"expr\": \"$.a\", \"data\": {}}";
    let expected = [json!({"ok": 3, "id": "a"}), json!({"err": "KeyError", "msg": "'a'"})];
    assert_eq!(send_requests(input), expected);
}

#[test]
fn invalid_lines_do_not_affect_others() {
    let input = b"{\n[1]\n{\"expr\": 5}\n\xff\xfe\n\"x\"\n{\"expr\": \"1\"}\n";
    let responses = send_requests(input);
    assert_eq!(responses.len(), 6);
    for response in &responses[..5] {
        assert_eq!(error_class(response), "ProtocolError");
        assert!(!response["msg"].as_str().unwrap().is_empty());
    }
    assert_eq!(responses[5], json!({"ok": 1}));
}

#[test]
fn line_length_is_limited() {
    let long = format!("{{\"expr\": \"$.len()\", \"data\": \"{}\"}}\n", "x".repeat(5 << 20));
    let endless = "y".repeat((16 << 20) + 1);
    let input = [long.as_str(), &endless, "\n{\"expr\": \"2\"}\n"].concat();
    let responses = send_requests(input.as_bytes());
    assert_eq!(responses[0], json!({"ok": 5 << 20}));
    assert_eq!(error_class(&responses[1]), "ProtocolError");
    assert_eq!(responses[2], json!({"ok": 2}));
}

#[test]
fn deep_nesting_gets_a_response() {
    let brackets = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let parens = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    let input = [
        json!({"expr": brackets(100)}).to_string(),
        json!({"expr": brackets(100_000)}).to_string(),
        json!({"expr": parens(100_000)}).to_string(),
        json!({"expr": "-".repeat(100_000) + "1"}).to_string(),
        format!("{{\"expr\": \"$\", \"data\": {}}}", brackets(100_000)),
        json!({"expr": "1"}).to_string(),
    ]
    .join("\n");
    let responses = send_requests(input.as_bytes());
    assert_eq!(responses.len(), 6);
    assert_eq!(responses[5], json!({"ok": 1}));
}

#[test]
fn each_response_is_flushed() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_stoker"))
        .args(["yaql", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        writeln!(stdin, "{{\"expr\": \"{number}\"}}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, format!("{{\"ok\": {number}}}\n"));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn clock_and_random_source_are_real() {
    let input = b"{\"expr\": \"now().year\"}\n{\"expr\": \"random()\"}\n{\"expr\": \"random()\"}\n";
    let responses = send_requests(input);
    assert!(responses[0]["ok"].as_i64().unwrap() >= 2026);
    assert_ne!(responses[1], responses[2]);
}

/// Compares with recorded results of the reference implementation, if they are available.
#[test]
fn corpus_matches_the_recorded_results() {
    let Some(Ok(corpus)) = stoker_testkit::real_data("yaql/corpus.jsonl").map(std::fs::read_to_string) else {
        return;
    };
    let output = run_bytes(&["yaql", "--jsonl"], corpus.as_bytes());
    let responses = String::from_utf8(output.stdout).unwrap();
    assert_eq!(responses.lines().count(), corpus.lines().count());
    let mut differences = Vec::new();
    for (case, response) in corpus.lines().zip(responses.lines()) {
        let (case, response) = (json::parse(case).unwrap(), json::parse(response).unwrap());
        let (expected, actual) = (exact_text(field(&case, "want").unwrap()), exact_text(&response));
        if expected != actual {
            differences.push(format!("{:?}: expected {expected:?}, got {actual:?}", field(&case, "id")));
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// Returns the value and error class as text, which distinguishes `1` from `1.0` and keeps all digits of a
/// number.
fn exact_text(response: &stoker_yaql::Value) -> [Option<String>; 2] {
    ["ok", "err"]
        .map(|key| field(response, key).map(|value| json::write(value, &WriteOptions::default()).unwrap()))
}

fn field<'a>(object: &'a stoker_yaql::Value, key: &str) -> Option<&'a stoker_yaql::Value> {
    object.as_map().unwrap().get_str(key)
}
