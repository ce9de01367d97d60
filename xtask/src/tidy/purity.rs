//! Pure crates do no I/O, read no clock and use no random source; the caller passes such values as arguments.

use super::layers::{Layer, layer_of};
use super::problem::Problem;
use super::rust_source::{code_without_tests, line_at};
use super::tree::{File, Tree};

/// Forbidden paths and the alternative to each.
const FORBIDDEN: &[(&str, &str)] = &[
    // sorted
    ("Instant::now", "take the time as an argument"),
    ("SystemTime", "take the time as an argument"),
    ("Timestamp::now", "take the time as an argument"),
    ("Zoned::now", "take the time as an argument"),
    ("std::env", "take the setting as an argument"),
    ("std::fs", "take the text as an argument; the caller reads files"),
    ("std::net", "describe the effect as a value; the caller performs it"),
    ("std::process", "describe the effect as a value; the caller performs it"),
    ("thread::sleep", "return the deadline; the caller waits"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files.iter().filter(|file| is_pure(file)).flat_map(check_file).collect()
}

/// Returns whether the file is a source of a pure crate or the pure part (`spec.rs`) of a split crate.
fn is_pure(file: &File) -> bool {
    let mut parts = file.path.split('/');
    let (Some("crates"), Some(short), Some("src")) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    if !file.is_rust() || file.is_test_only() {
        return false;
    }
    match layer_of(short) {
        Some(Layer::Pure) => true,
        Some(Layer::Split) => file.name() == "spec.rs",
        _ => false,
    }
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut code = code_without_tests(&file.text);
    let mut lines = take_uses(&mut code);
    lines.extend(code.lines().enumerate().map(|(line_idx, line)| (line_idx + 1, line.to_owned())));
    let mut problems = Vec::new();
    for (line, text) in lines {
        for (path, help) in FORBIDDEN.iter().filter(|(path, _)| contains_path(&text, path)) {
            problems.push(Problem::error(&file.path, line, format!("pure code uses `{path}`"), *help));
        }
    }
    problems.sort();
    problems.dedup();
    problems
}

/// Returns whether `text` contains `path` as whole words.
pub(super) fn contains_path(text: &str, path: &str) -> bool {
    text.match_indices(path)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + path.len()..].starts_with(is_word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Removes every `use` from the code and returns line and path of each import. Groups are expanded:
/// `use std::{fs, io::Read}` is two paths.
pub(super) fn take_uses(code: &mut String) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("use ").map(|offset| from + offset) {
        from = at + 4;
        let Some(end) = code[at..].find(';').map(|offset| at + offset) else { break };
        if code[..at].ends_with(is_word) {
            continue;
        }
        let tree: String = code[from..end].split_whitespace().collect();
        let mut expanded = Vec::new();
        expand("", &tree, &mut expanded);
        let line = line_at(code, at);
        paths.extend(expanded.into_iter().map(|path| (line, path)));
        let blank: String = code[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        from = at + blank.len();
        code.replace_range(at..end, &blank);
    }
    paths
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some(open) = tree.find('{') else {
        paths.push(format!("{prefix}{tree}"));
        return;
    };
    let inner = tree[open + 1..].strip_suffix('}').unwrap_or(&tree[open + 1..]);
    let prefix = format!("{prefix}{}", &tree[..open]);
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                expand(&prefix, &inner[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < inner.len() {
        expand(&prefix, &inner[start..], paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expect: &[(usize, &str)]) {
        let problems = check(&Tree::of(&[(path, text)]));
        let paths: Vec<_> = problems
            .iter()
            .map(|problem| {
                (problem.line, problem.message.trim_start_matches("pure code uses ").trim_matches('`'))
            })
            .collect();
        assert_eq!(paths, expect, "in {text}");
    }

    #[test]
    fn io_and_clocks_are_reported() {
        let path = "crates/yaql/src/a.rs";
        check_text(path, "\nlet x = std::fs::read(p);", &[(2, "std::fs")]);
        check_text(path, "use std::{collections::{BTreeMap, BTreeSet}, env};", &[(1, "std::env")]);
        check_text(path, "use std::fs::{self, File};", &[(1, "std::fs")]);
        check_text(path, "use std::{\n    fmt,\n    time::SystemTime,\n};\n", &[(1, "SystemTime")]);
        check_text(path, "std::thread::sleep(d);", &[(1, "thread::sleep")]);
        check_text(
            path,
            "let t = Instant::now();\nlet u: SystemTime = x;",
            &[(1, "Instant::now"), (2, "SystemTime")],
        );
    }

    #[test]
    fn tests_comments_literals_and_other_crates_pass() {
        check_text("crates/yaql/src/a.rs", "// std::fs\nlet x = \"std::env\";", &[]);
        check_text("crates/yaql/src/a.rs", "#[cfg(test)]\nmod tests { use std::fs; }", &[]);
        check_text("crates/yaql/src/a.rs", "use std::fmt; struct MySystemTime; my_std::fst();", &[]);
        check_text("crates/yaql/tests/a.rs", "use std::fs;", &[]);
        check_text("crates/cli/src/a.rs", "use std::fs;", &[]);
    }

    #[test]
    fn only_the_spec_of_a_split_crate_is_pure() {
        check_text("crates/tasks/src/shell/spec.rs", "use std::fs;", &[(1, "std::fs")]);
        check_text("crates/tasks/src/shell/run.rs", "use std::fs;", &[]);
    }
}
