//! Types of the REST API are declared in `crates/api-types` and nowhere else: a schema outside of it documents what other code
//! reads or writes, and a command that indexes a response by key reads what no type declares.

use super::problem::Problem;
use super::rust_source::code_without_tests;
use super::tree::{File, Tree};

const OWNER: &str = "crates/api-types/";
const COMMANDS: &str = "crates/cli/src/";

/// Files that declare a schema only for the OpenAPI document, and why.
const SCHEMAS: &[(&str, &str)] = &[
    // sorted
    ("crates/server/src/api/graphs/view.rs", "`stoker_manifest::graph` reads graphs"),
    ("crates/server/src/api/nodes/view.rs", "the schema names only the usual fields of a node in a list"),
    ("crates/server/src/api/plans/serialized.rs", "`stoker_planner` writes the response"),
    ("crates/server/src/api/plugins/body.rs", "temporary: its readers belong to `stoker-services`"),
    ("crates/server/src/api/plugins/install.rs", "the body is a file"),
    ("crates/server/src/api/releases/body.rs", "temporary: its readers belong to `stoker-services`"),
    ("crates/server/src/api/roles/view.rs", "temporary: its readers belong to `stoker-services`"),
    ("crates/server/src/api/tags/view.rs", "temporary: its readers belong to `stoker-services`"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, SCHEMAS)
}

fn check_with(tree: &Tree, schemas: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust() && file.path.starts_with("crates/")) {
        let is_exempt = schemas.iter().any(|(path, _)| *path == file.path);
        if !file.path.starts_with(OWNER) && !is_exempt {
            problems.extend(foreign_schemas(file));
        }
        if file.path.starts_with(COMMANDS) {
            problems.extend(indexed_keys(file));
        }
    }
    problems
}

fn foreign_schemas(file: &File) -> Vec<Problem> {
    let code = code_without_tests(&file.text);
    let lines = code.lines().enumerate();
    let derived = lines.filter(|(_, line)| line.contains("derive(") && line.contains("ToSchema"));
    let help = "declare the type in `crates/api-types`; a request uses `request!`, which also reads it";
    derived
        .map(|(idx, _)| {
            Problem::error(&file.path, idx + 1, "a schema is declared outside of `api-types`", help)
        })
        .collect()
}

/// Finds `value["key"]`. The code has spaces in place of literals, so the key is looked up in the text.
fn indexed_keys(file: &File) -> Vec<Problem> {
    let code = code_without_tests(&file.text);
    let mut problems = Vec::new();
    for (idx, (code_line, text_line)) in code.lines().zip(file.text.lines()).enumerate() {
        let code: Vec<char> = code_line.chars().collect();
        let text: Vec<char> = text_line.chars().collect();
        let is_index = |at: usize| {
            let before = code[at - 1];
            code[at] == '['
                && (before.is_alphanumeric() || matches!(before, '_' | ')' | ']' | '?'))
                && text.get(at + 1) == Some(&'"')
        };
        if (1..code.len()).any(is_index) {
            let help = "read the response with `typed` or `Remote::read`; for free-form documents use `get`";
            let message = "a document is indexed by a literal key";
            problems.push(Problem::error(&file.path, idx + 1, message, help));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str, schemas: &[(&str, &str)]) -> Vec<usize> {
        check_with(&Tree::of(&[(path, text)]), schemas).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn schemas_outside_of_the_crate_are_reported() {
        let text = "#[derive(Serialize, ToSchema)]\nstruct View;\n#[cfg(test)]\nmod tests {\n    #[derive(ToSchema)]\n    struct Fake;\n}\n";
        assert_eq!(lines("crates/server/src/api/a.rs", text, &[]), [1]);
        assert_eq!(lines("crates/api-types/src/a.rs", text, &[]), [0; 0]);
        assert_eq!(
            lines("crates/server/src/api/a.rs", text, &[("crates/server/src/api/a.rs", "why")]),
            [0; 0]
        );
    }

    #[test]
    fn literal_keys_in_commands_are_reported() {
        let text = "let a = run[\"id\"];\nlet b = get()?[\"id\"][0];\nlet c = [\"id\"];\nlet d = vec![\"id\"];\n// run[\"id\"]\nlet e = run[key];\nlet f = text(&[\"id\"]);\n";
        assert_eq!(lines("crates/cli/src/a.rs", text, &[]), [1, 2]);
        assert_eq!(lines("crates/server/src/a.rs", text, &[]), [0; 0]);
        assert_eq!(lines("crates/cli/src/a.rs", "let ä = \"ä[\\\"\"; run[\"id\"];\n", &[]), [1]);
    }
}
