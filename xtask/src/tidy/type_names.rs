//! A public type has one name, and a name denotes one public type: two crates that export the same name for
//! different types make every `use` ambiguous to the reader.
//!
//! [`SHARED`] lists the names that several crates may export, each with these crates and the reason.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::rust_source::{code_without_tests, line_at};
use super::tree::{File, Tree};

/// A name that several crates export.
type Shared = (&'static str, &'static [&'static str], &'static str);

/// Names that more than one crate exports: the name, all crates that export it and the reason. `yaml` and `yaql` are
/// independent of the product and may be published, so their names are those of their field.
const SHARED: &[Shared] = &[
    // sorted
    (
        "Document",
        &["state", "yaml"],
        "`yaml` is standalone: a YAML document; `state` has the documents of a state",
    ),
    (
        "Fields",
        &["manifest", "yaql"],
        "`yaql` is standalone: fields of a date and time; `manifest` reads those of a map",
    ),
    (
        "Host",
        &["tasks", "yaql"],
        "`yaql` is standalone: the program that embeds it; `tasks` has the port to a machine",
    ),
    (
        "Input",
        &["engine", "yaql"],
        "`yaql` is standalone: the value of `$`; `engine` has inputs of state machines",
    ),
    (
        "Node",
        &["model", "yaml", "yaql"],
        "`yaml` and `yaql` are standalone: nodes of a syntax tree; `model` has machines",
    ),
    (
        "NodeView",
        &["api-types", "yaml"],
        "`yaml` is standalone: a view of a YAML node; `api-types` has machines",
    ),
    (
        "Observer",
        &["store", "yaql"],
        "`yaql` is standalone: it observes evaluation; `store` observes database operations",
    ),
    (
        "Program",
        &["tasks", "yaql"],
        "`yaql` is standalone: a compiled expression; `tasks` runs programs of the host",
    ),
    (
        "Span",
        &["diagnostics", "yaql"],
        "`yaql` is standalone: its spans have no source file, those of `diagnostics` do",
    ),
    ("Tree", &["yaml", "yaql"], "both are standalone, and neither depends on the other"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, SHARED)
}

fn check_with(tree: &Tree, shared: &[Shared]) -> Vec<Problem> {
    let mut owners: BTreeMap<String, BTreeMap<&str, (&File, usize)>> = BTreeMap::new();
    for file in &tree.files {
        let Some(owner) = shipping_crate(file) else { continue };
        for (name, line) in public_types(&file.text) {
            owners.entry(name).or_default().entry(owner).or_insert((file, line));
        }
    }
    owners.retain(|_, owners| owners.len() > 1);
    let mut problems = Vec::new();
    for (name, owners) in &owners {
        let crates: BTreeSet<&str> = owners.keys().copied().collect();
        if shared.iter().any(|(shared, expected, _)| shared == name && crates.iter().eq(expected.iter())) {
            continue;
        }
        let crates = crates.into_iter().collect::<Vec<_>>().join("`, `");
        for (file, line) in owners.values() {
            problems.push(Problem::error(
                &file.path,
                *line,
                format!("`{name}` is a public type of several crates: `{crates}`"),
                "rename it after what distinguishes it, or list it with its crates and a reason in \
                 `xtask/src/tidy/type_names.rs`",
            ));
        }
    }
    for (name, ..) in shared.iter().filter(|(name, ..)| !owners.contains_key(*name)) {
        problems.push(Problem::warning(
            "xtask/src/tidy/type_names.rs",
            0,
            format!("`{name}` is a public type of one crate at most and needs no exception"),
            "remove it from the list",
        ));
    }
    problems
}

/// Returns the crate whose shipped sources the file belongs to.
fn shipping_crate(file: &File) -> Option<&str> {
    let mut parts = file.path.split('/');
    let (Some("crates"), Some(name), Some("src")) = (parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    (file.is_rust() && !file.is_test_only()).then_some(name)
}

/// Returns the name and line of every type and trait that is declared `pub`. `pub(crate)` is not public, and
/// the lint `unreachable_pub` keeps `pub` out of private modules.
fn public_types(text: &str) -> Vec<(String, usize)> {
    let code = code_without_tests(text);
    let mut types = Vec::new();
    for keyword in ["pub struct ", "pub enum ", "pub union ", "pub trait ", "pub type "] {
        for (at, _) in code.match_indices(keyword) {
            let name: String =
                code[at + keyword.len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // Empty for `pub struct $name` in a macro.
            if !name.is_empty() {
                types.push((name, line_at(&code, at)));
            }
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)], shared: &[Shared]) -> Vec<(String, String)> {
        check_with(&Tree::of(files), shared)
            .into_iter()
            .map(|problem| (problem.path, problem.message))
            .collect()
    }

    #[test]
    fn same_name_in_two_crates_is_reported_in_both() {
        let files = [
            ("crates/a/src/lib.rs", "pub struct Run;\npub enum Own {}\n"),
            ("crates/b/src/x/mod.rs", "\npub type Run = u8;\n"),
            ("crates/a/src/other.rs", "pub trait Run {}"),
        ];
        let message = "`Run` is a public type of several crates: `a`, `b`".to_owned();
        let expected = [
            ("crates/a/src/lib.rs".to_owned(), message.clone()),
            ("crates/b/src/x/mod.rs".to_owned(), message),
        ];
        assert_eq!(messages(&files, &[]), expected);
        assert_eq!(messages(&files, &[("Run", &["a", "b"], "a is the record, b the view")]), []);
    }

    #[test]
    fn third_crate_of_a_shared_name_is_reported() {
        let files = [
            ("crates/a/src/lib.rs", "pub struct Run;"),
            ("crates/b/src/lib.rs", "pub struct Run;"),
            ("crates/c/src/lib.rs", "pub struct Run;"),
        ];
        let problems = messages(&files, &[("Run", &["a", "b"], "a is the record, b the view")]);
        assert_eq!(problems.len(), 3);
        assert_eq!(problems[0].1, "`Run` is a public type of several crates: `a`, `b`, `c`");
    }

    #[test]
    fn private_types_tests_and_comments_do_not_count() {
        let files = [
            ("crates/a/src/lib.rs", "pub struct Run;"),
            (
                "crates/b/src/lib.rs",
                "pub(crate) struct Run;\n// pub struct Run;\nconst A: &str = \"pub struct Run\";",
            ),
            ("crates/c/src/lib.rs", "#[cfg(test)]\nmod tests { pub struct Run; }"),
            ("crates/d/tests/run.rs", "pub struct Run;"),
        ];
        assert_eq!(messages(&files, &[]), []);
    }

    #[test]
    fn exception_without_need_is_a_warning() {
        let problems = check_with(
            &Tree::of(&[("crates/a/src/lib.rs", "pub struct Run;")]),
            &[("Run", &["a", "b"], "why")],
        );
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].severity, super::super::problem::Severity::Warning);
    }
}
