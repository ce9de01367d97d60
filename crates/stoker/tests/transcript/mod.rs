//! Transcripts of commands for snapshot tests: command line, input, standard output, standard error and exit code, with
//! values that differ between executions replaced by placeholders.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;
use std::sync::LazyLock;

use regex::Regex;

/// Values that differ between executions, and their placeholders, in the order of replacement.
static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d| UTC)?", "TIME"),
        (r"(valid until +)\d{4}-\d\d-\d\d", "${1}DATE"),
        (r"stk_[\w-]+", "TOKEN"),
        (r"(shown only once\): )\S+", "${1}SECRET"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
        (r"\b[0-9a-f]{32,}\b", "HEX"),
        (r"\d+ MiB free", "SIZE free"),
        (r"can open \d+ files", "can open N files"),
        (r"SQLite [\d.]+", "SQLite VERSION"),
        (r"schema version \d+", "schema version N"),
        (r"\d+ are running", "N are running"),
        (r"(?m)^\d\d:\d\d:\d\d ", "TIME "),
        (r"\b(\d+ (h|min) )?\d+(\.\d+)? (ms|s|min|h|days?)\b( ago)?", "DURATION"),
        (
            r#"("(duration|time_start|time_end|created_at|updated_at|seconds|took)\w*": )-?\d+(\.\d+)?"#,
            "${1}NUMBER",
        ),
    ];
    patterns.map(|(pattern, placeholder)| (Regex::new(pattern).unwrap(), placeholder)).into()
});

/// Alignment of columns, which depends on the width of replaced values.
static ALIGNMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\S) {2,}").unwrap());
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^TIME run \d+, .*: node (\d+): ").unwrap());
static RULE: LazyLock<Regex> = LazyLock::new(|| Regex::new("─+").unwrap());

/// Commands in the order of their execution, with their complete output.
#[derive(Default)]
pub(crate) struct Transcript {
    /// Literal texts of this test and their placeholders, such as the path of its folder.
    literals: Vec<(String, &'static str)>,
    text: String,
}

impl Transcript {
    pub(crate) fn replace(&mut self, literal: impl Into<String>, placeholder: &'static str) {
        self.literals.push((literal.into(), placeholder));
    }

    pub(crate) fn replace_path(&mut self, path: &Path, placeholder: &'static str) {
        self.replace(path.to_str().unwrap(), placeholder);
    }

    /// Appends a command. Lines of the input start with `<`, those of standard error with `!`.
    pub(crate) fn record(&mut self, args: &[&str], input: &str, output: &Output) {
        let mut entry = format!("$ stoker {}\n", args.join(" ").trim_end());
        append_lines(&mut entry, "< ", input);
        append_lines(&mut entry, "", std::str::from_utf8(&output.stdout).unwrap());
        append_lines(&mut entry, "! ", std::str::from_utf8(&output.stderr).unwrap());
        if output.status.code() != Some(0) {
            _ = writeln!(entry, "= {}", output.status);
        }
        self.text.push_str(&self.redact(&entry));
        self.text.push('\n');
    }

    /// Returns the transcript since the last call.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    fn redact(&self, entry: &str) -> String {
        let paragraphs: Vec<String> = entry.split("\n\n").map(|text| self.redact_paragraph(text)).collect();
        sort_progress(&paragraphs.join("\n\n"))
    }

    fn redact_paragraph(&self, paragraph: &str) -> String {
        let mut text = paragraph.to_owned();
        for (literal, placeholder) in &self.literals {
            text = text.replace(literal, placeholder);
        }
        for (pattern, placeholder) in PATTERNS.iter() {
            text = pattern.replace_all(&text, *placeholder).into_owned();
        }
        let has_columns = text.contains('─');
        if has_columns && text != paragraph {
            text = ALIGNMENT.replace_all(&text, "$1  ").into_owned();
            text = RULE.replace_all(&text, "───").into_owned();
        }
        text
    }
}

/// Sorts consecutive lines about the progress of nodes by node, because nodes report in any order.
fn sort_progress(text: &str) -> String {
    let node_of = |line: &str| -> Option<u64> { PROGRESS.captures(line)?[1].parse().ok() };
    let mut lines: Vec<&str> = text.lines().collect();
    for chunk in lines.chunk_by_mut(|left, right| node_of(left).is_some() == node_of(right).is_some()) {
        // Stable: the lines of each node keep their order.
        chunk.sort_by_key(|line| node_of(line));
    }
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

fn append_lines(entry: &mut String, prefix: &str, text: &str) {
    for line in text.lines() {
        _ = writeln!(entry, "{}", format!("{prefix}{line}").trim_end());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        entry.push_str("(no newline)\n");
    }
}
