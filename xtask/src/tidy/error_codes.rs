//! Every error code has a row in `docs/error-codes.md`, and every row has a code.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::Tree;

const PAGE: &str = "docs/error-codes.md";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let page = tree.file(PAGE).map_or("", |page| page.text.as_str());
    let documented: BTreeSet<&str> = page.lines().filter_map(documented_in).collect();
    let mut problems = Vec::new();
    let mut defined = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.is_rust() && file.path.contains("/src/")) {
        for (line, code) in codes(&file.text) {
            defined.insert(code);
            if !documented.contains(code) {
                let help = format!("add a row to {PAGE} with the cause and the fix");
                problems.push(Problem::error(&file.path, line, format!("`{code}` is not documented"), help));
            }
        }
    }
    for code in documented.difference(&defined) {
        let message = format!("no source file defines the code `{code}`");
        problems.push(Problem::error(PAGE, 0, message, "remove or correct the row"));
    }
    problems
}

/// Returns the code in the first cell of a table row.
fn documented_in(line: &str) -> Option<&str> {
    line.strip_prefix("| `")?.split('`').next()
}

/// Returns the line and value of each constant in `mod codes` of a file.
fn codes(text: &str) -> Vec<(usize, &str)> {
    let mut codes = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        if line.ends_with("mod codes {") {
            is_inside = true;
        } else if line == "}" {
            is_inside = false;
        } else if let Some((_, rest)) = line.split_once("= \"").filter(|_| is_inside) {
            codes.extend(rest.split('"').next().map(|code| (at + 1, code)));
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_rows_match() {
        let source = "pub mod codes {\n    pub const A: &str = \"x-a\";\n    pub const B: &str = \"x-b\";\n}\nconst C: &str = \"x-c\";\n";
        let page = "| code | what |\n|---|---|\n| `x-a` | a |\n| `x-d` | d |\n";
        let tree = Tree::of(&[("crates/x/src/problem.rs", source), (PAGE, page)]);
        let found: Vec<String> = check(&tree).iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(found, ["`x-b` is not documented", "no source file defines the code `x-d`"]);
    }
}
