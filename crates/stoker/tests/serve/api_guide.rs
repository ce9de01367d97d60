//! The guided tour of the API documentation, executed as written.
//!
//! All `sh` blocks of `docs/api.md` run in one shell, in order; a `json` block is the expected output of the
//! preceding block, where `"…"` matches any value. Afterwards, the request metrics show whether an operation
//! is missing.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use stoker_testkit::TempFolder;

use crate::process::{PASSWORD, Process};

const DOCUMENT: &str = include_str!("../../../../docs/api.md");
/// Operations that cannot succeed here; a rejected request is sufficient.
const REJECTED: &[&str] = &[
    "GET /api/v1/agents/session",
    "GET /api/v1/clusters/{id}/attributes/deployed",
    "POST /api/v1/agents/certificate",
    "POST /api/v1/agents/nats_user",
];
/// Separates the outputs of two blocks.
const SEPARATOR: &str = "-- end of block --";

struct Block {
    line: usize,
    script: String,
    expected: Option<Value>,
}

#[test]
fn api_tour_works_as_written_and_is_complete() {
    let (folder, work) = (TempFolder::new(), TempFolder::new());
    let server = Process::start_with(folder.path(), &["--local-agents"]);
    let blocks = blocks(DOCUMENT);
    assert!(blocks.len() > 10);
    let outputs = run(&blocks, &server.address, work.path());
    for (block, output) in blocks.iter().zip(&outputs) {
        let Some(expected) = &block.expected else { continue };
        let actual: Value = serde_json::from_str(output)
            .unwrap_or_else(|error| panic!("docs/api.md:{}: invalid JSON ({error}): {output}", block.line));
        if let Err(difference) = matches(expected, &actual, "") {
            panic!("docs/api.md:{}: {difference}\nprinted: {output}", block.line);
        }
    }
    assert_eq!(outputs.len(), blocks.len(), "the tour failed in docs/api.md:{}", blocks[outputs.len()].line);
    let missing = missing_operations(&server);
    assert!(missing.is_empty(), "docs/api.md does not show: {missing:#?}");
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let fence = line.trim();
        if fence != "```sh" && fence != "```json" {
            continue;
        }
        let text: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        let text = text.join("\n");
        if fence == "```sh" {
            blocks.push(Block { line: number + 1, script: text, expected: None });
        } else if let Some(block) = blocks.last_mut() {
            let expected = serde_json::from_str(&text);
            block.expected =
                Some(expected.unwrap_or_else(|error| panic!("docs/api.md:{}: {error}", number + 1)));
        }
    }
    blocks
}

/// Returns the output of each block up to the first failed block.
fn run(blocks: &[Block], address: &str, folder: &std::path::Path) -> Vec<String> {
    let mut shell = Command::new("bash")
        .args(["-euo", "pipefail", "-s"])
        .current_dir(folder)
        .env("STOKER", format!("http://{address}"))
        .env("PASSWORD", PASSWORD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let scripts: Vec<String> =
        blocks.iter().map(|block| format!("{}\nprintf '\\n%s\\n' '{SEPARATOR}'\n", block.script)).collect();
    let mut stdin = shell.stdin.take().unwrap();
    std::thread::spawn(move || {
        // A shell that exited early has closed its input; its output shows where.
        _ = stdin.write_all(scripts.concat().as_bytes());
    });
    let output = shell.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut outputs: Vec<String> = text.split(SEPARATOR).map(|part| part.trim().to_owned()).collect();
    outputs.pop();
    outputs
}

/// Compares an output with the documented output.
fn matches(expected: &Value, actual: &Value, path: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::String(text), _) if text == "…" => Ok(()),
        (Value::Object(expected), Value::Object(actual)) => expected.iter().try_for_each(|(key, value)| {
            let inner = actual.get(key).ok_or_else(|| format!("`{path}.{key}` is missing"))?;
            matches(value, inner, &format!("{path}.{key}"))
        }),
        (Value::Array(expected), Value::Array(actual)) => {
            let is_open = expected.last().is_some_and(|last| last == "…");
            let expected = if is_open { &expected[..expected.len() - 1] } else { expected };
            if actual.len() < expected.len() || (!is_open && actual.len() > expected.len()) {
                return Err(format!("`{path}` has {} items", actual.len()));
            }
            expected.iter().zip(actual).enumerate().try_for_each(|(index, (expected, actual))| {
                matches(expected, actual, &format!("{path}[{index}]"))
            })
        }
        (expected, actual) if expected == actual => Ok(()),
        (expected, actual) => Err(format!("`{path}` is {actual}, but documented as {expected}")),
    }
}

/// Returns the operations of the OpenAPI document without a successful request.
fn missing_operations(server: &Process) -> BTreeSet<String> {
    let client = server.client();
    let document = client.expect(200, "GET", "/api/v1/openapi.json", None);
    let metrics = client.text("/metrics");
    let called: BTreeSet<String> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("stoker_http_requests_total{method=\""))
        .filter(|line| line.contains("status=\"2"))
        .filter_map(|line| {
            let (method, rest) = line.split_once("\",route=\"")?;
            Some(format!("{method} {}", rest.split_once('"')?.0))
        })
        .collect();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    operations
        .filter(|operation| !called.contains(operation) && !REJECTED.contains(&operation.as_str()))
        .collect()
}
