//! Changelog fragments are named `<slug>.<type>.md` and are not empty.

use super::problem::Problem;
use super::tree::Tree;

const FOLDER: &str = "changelog.d/";
const KINDS: &[&str] = &["added", "changed", "fixed", "removed", "security"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in &tree.files {
        let Some(name) = file.path.strip_prefix(FOLDER) else { continue };
        if name == "README.md" {
            continue;
        }
        if !is_valid(name) {
            problems.push(Problem::error(
                &file.path,
                0,
                "invalid name of a changelog fragment",
                format!(
                    "name it `<slug>.<kind>.md`; the slug has a-z, 0-9 and `-`, the kind is one of {}",
                    KINDS.join(", ")
                ),
            ));
        }
        if file.text.trim().is_empty() {
            problems.push(Problem::error(
                &file.path,
                0,
                "empty changelog fragment",
                "describe in a sentence or two what changes for the user and what to do",
            ));
        }
    }
    problems
}

fn is_valid(name: &str) -> bool {
    let mut parts = name.split('.');
    let (Some(slug), Some(kind), Some("md"), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let slug_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !slug.is_empty() && slug.chars().all(slug_char) && KINDS.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_validated() {
        for good in ["yaql-engine.added.md", "x2.security.md"] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["yaql.md", "yaql.new.md", "Yaql.added.md", ".added.md", "a.b.added.md", "sub/a.added.md"]
        {
            assert!(!is_valid(bad), "{bad}");
        }
    }

    #[test]
    fn empty_fragment_is_reported() {
        assert_eq!(check(&Tree::of(&[("changelog.d/a.added.md", "\n")])).len(), 1);
        assert_eq!(check(&Tree::of(&[("changelog.d/a.md", "text")])).len(), 1);
        assert_eq!(check(&Tree::of(&[("changelog.d/README.md", "")])).len(), 0);
    }
}
