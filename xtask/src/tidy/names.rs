//! Names say which thing they denote: a pronoun or a bare participle (`found`, `known`, `made`) fits every value and so
//! tells the reader nothing.

use super::problem::Problem;
use super::rust_source::{code_without_tests, line_at};
use super::tree::{File, Tree};

/// Refused as the whole name of a variable, parameter, field, function, module or type.
const REFUSED: &[&str] = &[
    // sorted
    "asked", "chosen", "found", "given", "held", "kept", "known", "made", "named", "said", "seen", "shown",
    "taken", "told", "wanted",
    // end sorted
];

/// Keywords whose next word declares a name.
const DECLARING: &[&str] =
    &["const", "enum", "fn", "for", "let", "mod", "mut", "static", "struct", "trait", "type"];

/// Names that are the term of their field: the start of a path, the name and the reason.
const TERMS: &[(&str, &str, &str)] = &[
    // sorted
    ("crates/api-types/src/compatibility.rs", "chosen", "a field of the REST API"),
    ("crates/server/src/api/compatibility/check.rs", "chosen", "a field of the REST API"),
    ("crates/server/src/api/mod.rs", "named", "operations on records that are addressed by name"),
    ("crates/services/src/metadata/mod.rs", "named", "records that are addressed by name"),
    ("crates/yaql/", "named", "arguments of a call are positional or named"),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, TERMS)
}

fn check_with(tree: &Tree, terms: &[(&str, &str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut used = vec![false; terms.len()];
    for file in tree.files.iter().filter(|file| is_shipped(file)) {
        let code = code_without_tests(&file.text);
        for (at, name) in declarations(&code) {
            let term = terms.iter().position(|(path, term, _)| *term == name && file.path.starts_with(path));
            match term {
                Some(term_idx) => used[term_idx] = true,
                None => problems.push(Problem::error(
                    &file.path,
                    line_at(&code, at),
                    format!("`{name}` does not say which thing it is"),
                    "name the thing (`node`, `leases`, `secret`), or list the name with a reason in \
                     `xtask/src/tidy/names.rs`",
                )),
            }
        }
    }
    for ((path, name, _), _) in terms.iter().zip(used).filter(|(_, is_used)| !is_used) {
        problems.push(Problem::warning(
            "xtask/src/tidy/names.rs",
            0,
            format!("no `{name}` is declared in `{path}`, so it needs no exception"),
            "remove it from the list",
        ));
    }
    problems
}

fn is_shipped(file: &File) -> bool {
    let has_sources = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
    has_sources && file.is_rust() && !file.is_test_only()
}

/// Returns the offset and the name of each declaration with a refused name. Names in patterns, such as closure parameters
/// without a type, are not recognised.
fn declarations(code: &str) -> impl Iterator<Item = (usize, &str)> {
    words(code).filter(|(at, word)| {
        let is_refused = REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(word));
        is_refused && is_declared(&code[..*at], &code[at + word.len()..])
    })
}

fn is_declared(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let last_word = before.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
    let is_path = before.ends_with(['.', ':', '\'', '$']);
    let has_type = after.trim_start().starts_with(':') && !after.trim_start().starts_with("::");
    DECLARING.contains(&last_word) || has_type && !is_path
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = code.as_ptr() as usize;
    let words = code.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
    words.map(move |word| (word.as_ptr() as usize - start, word))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check_with(&Tree::of(&[(path, text)]), &[]).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn declarations_with_a_refused_name_are_reported() {
        let text = "let found = 1;\nlet mut kept: u8 = 2;\nfn made() {}\nstruct Known;\nfn f(chosen: &str) {}\n\
                    struct A { held: u8 }\nmod named;\nfor seen in a {}\n|told: u8| told;\n";
        assert_eq!(lines("crates/a/src/a.rs", text), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(lines("xtask/src/a.rs", text).len(), 9);
        assert_eq!(lines("crates/a/tests/a.rs", text), [0; 0]);
    }

    #[test]
    fn uses_longer_names_comments_and_tests_pass() {
        let text = "a.found;\nnamed::x();\nlet is_known = known_names;\nErrorKind::NotFound;\n// let found: u8\n\
                    \"let found = 1\";\n'held: loop {}\n#[cfg(test)]\nmod tests { fn a() { let found = 1; } }\n";
        assert_eq!(lines("crates/a/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn terms_pass_and_unused_ones_are_a_warning() {
        let tree = Tree::of(&[("crates/a/src/a.rs", "let found = 1;")]);
        assert_eq!(check_with(&tree, &[("crates/a/", "found", "why")]).len(), 0);
        let problems = check_with(&tree, &[("crates/a/", "found", "why"), ("crates/b/", "found", "why")]);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].severity, super::super::problem::Severity::Warning);
    }
}
