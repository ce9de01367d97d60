//! Every code of a problem is explained to the people who see it, and none is explained that does not exist.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::Tree;

const PAGE: &str = "docs/error-codes.md";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let page = tree.file(PAGE).map_or("", |page| page.text.as_str());
    let explained: BTreeSet<&str> = page.lines().filter_map(explained_in).collect();
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.is_rust() && file.path.contains("/src/")) {
        for (line, code) in codes(&file.text) {
            known.insert(code);
            if !explained.contains(code) {
                let help = format!("add a row to {PAGE}: what is wrong, and what to do");
                problems.push(Problem::error(&file.path, line, format!("nobody explains `{code}`"), help));
            }
        }
    }
    for code in explained.difference(&known) {
        let message = format!("no problem has the code `{code}`");
        problems.push(Problem::error(PAGE, 0, message, "remove its row, or correct it"));
    }
    problems
}

/// The code that a row of a table begins with.
fn explained_in(line: &str) -> Option<&str> {
    line.strip_prefix("| `")?.split('`').next()
}

/// What `mod codes` of a file names, with lines.
fn codes(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        if line.ends_with("mod codes {") {
            is_inside = true;
        } else if line == "}" {
            is_inside = false;
        } else if let Some((_, rest)) = line.split_once("= \"").filter(|_| is_inside) {
            found.extend(rest.split('"').next().map(|code| (at + 1, code)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_explanations_are_the_same() {
        let source = "pub mod codes {\n    pub const A: &str = \"x-a\";\n    pub const B: &str = \"x-b\";\n}\nconst C: &str = \"x-c\";\n";
        let page = "| code | what |\n|---|---|\n| `x-a` | a |\n| `x-d` | d |\n";
        let tree = Tree::of(&[("crates/x/src/problem.rs", source), (PAGE, page)]);
        let found: Vec<String> = check(&tree).iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(found, ["nobody explains `x-b`", "no problem has the code `x-d`"]);
    }
}
