//! Types of the REST API are declared in `crates/api-types` and nowhere else: a schema outside of it documents what other code
//! reads or writes, a command that looks up a key of a response reads what no type declares, and a handler that returns
//! `Json` writes what no type declares.

use super::problem::Problem;
use super::rust_source::code_without_tests;
use super::tree::{File, Tree};

const OWNER: &str = "crates/api-types/";
const COMMANDS: &str = "crates/cli/src/";
const HANDLERS: &str = "crates/server/src/api/";

/// Files that declare a schema only for the OpenAPI document, and why.
const SCHEMAS: &[(&str, &str)] = &[
    // sorted
    ("crates/server/src/api/plugins/install.rs", "the body is a file"),
    // end sorted
];

/// Files of commands that look up keys of documents which are not responses, and why.
const DOCUMENTS: &[(&str, &str)] = &[
    // sorted
    ("crates/cli/src/commands/doctor/setup/nats.rs", "the document is that of a NATS server"),
    ("crates/cli/src/commands/graph/diff.rs", "compares tasks field by field, also those of files"),
    ("crates/cli/src/commands/graph/download.rs", "removes the aliases of fields"),
    ("crates/cli/src/commands/graph/local.rs", "searches a file for source positions"),
    ("crates/cli/src/commands/plan/graph.rs", "searches a file for source positions"),
    ("crates/cli/src/commands/plan/text.rs", "`verdicts` is a typed map of numbers"),
    ("crates/cli/src/commands/run/follow.rs", "prints the run as the server sent it"),
    ("crates/cli/src/commands/run/progress.rs", "bodies of events have no type yet"),
    ("crates/cli/src/remote/credentials.rs", "the document is the file of stored logins"),
    ("crates/cli/src/remote/mod.rs", "prints resources of any type"),
    // end sorted
];

/// Handlers without a response type, and why.
const UNTYPED: &[(&str, &str)] = &[
    // sorted
    ("crates/server/src/api/identity/v1.rs", "the body is `null`"),
    ("crates/server/src/api/identity/v2.rs", "the format is that of Keystone"),
    ("crates/server/src/api/identity/v3.rs", "the format is that of Keystone"),
    // end sorted
];

/// The lists of exempt files.
struct Exempt<'e> {
    schemas: &'e [(&'e str, &'e str)],
    documents: &'e [(&'e str, &'e str)],
    untyped: &'e [(&'e str, &'e str)],
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, &Exempt { schemas: SCHEMAS, documents: DOCUMENTS, untyped: UNTYPED })
}

fn check_with(tree: &Tree, exempt: &Exempt<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust() && file.path.starts_with("crates/")) {
        let is_in = |list: &[(&str, &str)]| list.iter().any(|(path, _)| *path == file.path);
        if !file.path.starts_with(OWNER) && !is_in(exempt.schemas) {
            problems.extend(foreign_schemas(file));
        }
        if file.path.starts_with(COMMANDS) {
            problems.extend(indexed_keys(file));
            if !is_in(exempt.documents) {
                problems.extend(looked_up_keys(file));
            }
        }
        if file.path.starts_with(HANDLERS) && !is_in(exempt.untyped) {
            problems.extend(untyped_responses(file));
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

/// Finds `value.get("key")`, and elements of arrays that are converted: `value[0].as_str()`. `remote.get("path")` sends a
/// request.
fn looked_up_keys(file: &File) -> Vec<Problem> {
    let code = code_without_tests(&file.text);
    let mut problems = Vec::new();
    for (idx, (code_line, text_line)) in code.lines().zip(file.text.lines()).enumerate() {
        let code = code_line;
        let mut keys = code.match_indices(".get(").filter(|(at, _)| {
            let n_before = code[..at + ".get(".len()].chars().count();
            !code[..*at].ends_with("remote") && text_line.chars().nth(n_before) == Some('"')
        });
        let mut elements = code.match_indices("].as_").filter(|(at, _)| {
            let index = code[..*at].rsplit('[').next().unwrap_or_default();
            !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())
        });
        if keys.next().is_some() || elements.next().is_some() {
            let help = "read the response with `typed` or `Remote::read`";
            let message = "a document is read without a type";
            problems.push(Problem::error(&file.path, idx + 1, message, help));
        }
    }
    problems
}

fn untyped_responses(file: &File) -> Vec<Problem> {
    let code = code_without_tests(&file.text);
    let untyped =
        |line: &str| ["ApiResponse<Json>", "ApiResponse<Vec<Json>>"].iter().any(|name| line.contains(name));
    let lines = code.lines().enumerate().filter(|(_, line)| untyped(line));
    let help = "return the type that `responses` names; `typed` converts documents of lower crates";
    lines.map(|(idx, _)| Problem::error(&file.path, idx + 1, "a response has no type", help)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str, exempt: &[(&str, &str)]) -> Vec<usize> {
        let exempt = Exempt { schemas: exempt, documents: exempt, untyped: exempt };
        check_with(&Tree::of(&[(path, text)]), &exempt).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn keys_that_commands_look_up_are_reported() {
        let text = "let a = run.get(\"id\");\nlet b = remote.get(\"version\");\nlet c = end[0].as_u64();\nlet d = names.get(key);\nlet e = lines[0].len();\nlet ä = (\"ä\", run.get(\"id\"));\n";
        let path = "crates/cli/src/commands/a.rs";
        assert_eq!(lines(path, text, &[]), [1, 3, 6]);
        assert_eq!(lines(path, text, &[(path, "why")]), [0; 0]);
        assert_eq!(lines("crates/server/src/a.rs", text, &[]), [0; 0]);
    }

    #[test]
    fn responses_without_a_type_are_reported() {
        let text = "fn a() -> ApiResponse<Json> {}\nfn b() -> ApiResponse<Vec<Json>> {}\nfn c() -> ApiResponse<RunView> {}\n";
        let path = "crates/server/src/api/a.rs";
        assert_eq!(lines(path, text, &[]), [1, 2]);
        assert_eq!(lines(path, text, &[(path, "why")]), [0; 0]);
        assert_eq!(lines("crates/server/src/http/a.rs", text, &[]), [0; 0]);
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
