//! Crates inherit lints and dependency versions from the workspace.

use super::problem::Problem;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &tree.members {
        let path = format!("{}/Cargo.toml", member.folder);
        let Some(file) = tree.file(&path) else { continue };
        check_lints(file, &mut problems);
        check_versions(file, &mut problems);
    }
    problems
}

fn check_lints(file: &File, problems: &mut Vec<Problem>) {
    let inherits = entries(&file.text)
        .iter()
        .any(|entry| entry.section == "lints" && entry.key == "workspace" && entry.value == "true");
    if !inherits {
        problems.push(Problem::error(
            &file.path,
            0,
            "the crate does not inherit the lints of the workspace",
            "add a section `[lints]` with `workspace = true`",
        ));
    }
}

fn check_versions(file: &File, problems: &mut Vec<Problem>) {
    for entry in entries(&file.text) {
        let in_list = entry.section.ends_with("dependencies");
        let in_table = entry.section.contains("dependencies.");
        let inherits = entry.key.ends_with(".workspace")
            || entry.value.replace(' ', "").contains("workspace=true")
            || (in_table && entry.key != "version" && entry.key != "git" && entry.key != "path");
        if (in_list || in_table) && !inherits {
            problems.push(Problem::error(
                &file.path,
                entry.line,
                format!("`{}` is not inherited from the workspace", entry.key),
                "declare it in `[workspace.dependencies]` of the root manifest and write `name.workspace = true`",
            ));
        }
    }
}

pub(super) struct Entry {
    pub(super) section: String,
    pub(super) line: usize,
    pub(super) key: String,
    value: String,
}

/// Returns the `key = value` pairs of a manifest; multi-line values are joined.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut open = 0_i32;
    for (line_idx, line) in text.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let brackets: i32 = line
            .chars()
            .map(|c| match c {
                '[' | '{' => 1,
                ']' | '}' => -1,
                _ => 0,
            })
            .sum();
        if open > 0 {
            if let Some(entry) = entries.last_mut() {
                entry.value.push_str(line);
            }
            open += brackets;
        } else if line.starts_with('[') {
            line.trim_matches(['[', ']']).clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=') {
            entries.push(Entry {
                section: section.clone(),
                line: line_idx + 1,
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            });
            open = brackets;
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    fn check_text(text: &str) -> Vec<(usize, String)> {
        let mut tree = Tree::of(&[("crates/a/Cargo.toml", text)]);
        tree.members = vec![Member { folder: "crates/a".into(), ..Member::default() }];
        check(&tree).into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn inheriting_manifest_passes() {
        let text = "[lints]\nworkspace = true\n[dependencies]\na.workspace = true # why\n\
                    b = { workspace = true, features = [\n  \"x\",\n] }\n[dependencies.c]\nworkspace = true\n\
                    features = [\"y\"]\n";
        assert_eq!(check_text(text), []);
    }

    #[test]
    fn missing_lints_are_reported() {
        assert_eq!(check_text("[package]\nname = \"a\"\n").len(), 1);
    }

    #[test]
    fn versions_and_paths_are_reported() {
        let text = "[lints]\nworkspace = true\n[dependencies]\na = \"1\"\n[dev-dependencies]\nb = { path = \"../b\" }\n\
                    [target.'cfg(unix)'.dependencies]\nc = \"2\"\n[build-dependencies.d]\nversion = \"3\"\n";
        let lines: Vec<usize> = check_text(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [4, 6, 8, 10]);
    }
}
