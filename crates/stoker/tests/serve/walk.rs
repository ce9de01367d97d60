//! The walk through the API in the documentation, done as it is written.
//!
//! Every `sh` block of `docs/api.md` is run in one shell, in order; a `json` block after it is what it prints, `"…"`
//! standing for anything. Afterwards the server's own counters say whether an operation was left out.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use stoker_testkit::Folder;

use crate::process::{PASSWORD, Process};

const DOCUMENT: &str = include_str!("../../../../docs/api.md");
/// Operations that have nothing to give here: being told so is enough.
const REFUSED: &[&str] = &[
    "GET /api/v1/agents/session",
    "GET /api/v1/clusters/{id}/attributes/deployed",
    "POST /api/v1/agents/certificate",
    "POST /api/v1/agents/nats_user",
];
/// Between the outputs of two blocks.
const SEPARATOR: &str = "-- end of block --";

struct Block {
    line: usize,
    script: String,
    expected: Option<Value>,
}

#[test]
fn the_walk_works_as_written_and_leaves_nothing_out() {
    let (folder, work) = (Folder::new(), Folder::new());
    let server = Process::start_with(folder.path(), &["--local-agents"]);
    let blocks = blocks(DOCUMENT);
    assert!(blocks.len() > 10);
    let outputs = run(&blocks, &server.address, work.path());
    for (block, output) in blocks.iter().zip(&outputs) {
        let Some(expected) = &block.expected else { continue };
        let found: Value = serde_json::from_str(output)
            .unwrap_or_else(|error| panic!("docs/api.md:{}: no JSON ({error}): {output}", block.line));
        if let Err(difference) = matches(expected, &found, "") {
            panic!("docs/api.md:{}: {difference}\nprinted: {output}", block.line);
        }
    }
    assert_eq!(
        outputs.len(),
        blocks.len(),
        "the walk broke off in docs/api.md:{}",
        blocks[outputs.len()].line
    );
    let missing = left_out(&server);
    assert!(missing.is_empty(), "docs/api.md does not show: {missing:#?}");
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let kind = line.trim();
        if kind != "```sh" && kind != "```json" {
            continue;
        }
        let text: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        let text = text.join("\n");
        if kind == "```sh" {
            blocks.push(Block { line: number + 1, script: text, expected: None });
        } else if let Some(block) = blocks.last_mut() {
            let expected = serde_json::from_str(&text);
            block.expected =
                Some(expected.unwrap_or_else(|error| panic!("docs/api.md:{}: {error}", number + 1)));
        }
    }
    blocks
}

/// What each block printed, up to the one that failed.
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
        // A shell that ended early has closed its input; what it printed says where.
        _ = stdin.write_all(scripts.concat().as_bytes());
    });
    let output = shell.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut pieces: Vec<String> = text.split(SEPARATOR).map(|piece| piece.trim().to_owned()).collect();
    pieces.pop();
    pieces
}

/// Whether what was printed is what was written.
fn matches(expected: &Value, found: &Value, path: &str) -> Result<(), String> {
    match (expected, found) {
        (Value::String(text), _) if text == "…" => Ok(()),
        (Value::Object(expected), Value::Object(found)) => expected.iter().try_for_each(|(key, value)| {
            let inner = found.get(key).ok_or_else(|| format!("`{path}.{key}` is missing"))?;
            matches(value, inner, &format!("{path}.{key}"))
        }),
        (Value::Array(expected), Value::Array(found)) => {
            let is_open = expected.last().is_some_and(|last| last == "…");
            let expected = if is_open { &expected[..expected.len() - 1] } else { expected };
            if found.len() < expected.len() || (!is_open && found.len() > expected.len()) {
                return Err(format!("`{path}` has {} items", found.len()));
            }
            expected.iter().zip(found).enumerate().try_for_each(|(index, (expected, found))| {
                matches(expected, found, &format!("{path}[{index}]"))
            })
        }
        (expected, found) if expected == found => Ok(()),
        (expected, found) => Err(format!("`{path}` is {found}, documented is {expected}")),
    }
}

/// Operations of the document that nobody called with success.
fn left_out(server: &Process) -> BTreeSet<String> {
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
        .filter(|operation| !called.contains(operation) && !REFUSED.contains(&operation.as_str()))
        .collect()
}
