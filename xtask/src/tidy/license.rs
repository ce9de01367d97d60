//! The licence text is in the root and every crate declares it.

use super::problem::Problem;
use super::tree::Tree;

const LICENSE: &str = "Apache-2.0";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    if tree.file("LICENSE").is_none_or(|file| !file.text.contains("Apache License")) {
        problems.push(Problem::error(
            "LICENSE",
            0,
            "the text of the Apache License is missing",
            "restore it with `git checkout`",
        ));
    }
    for member in tree.members.iter().filter(|member| member.license != LICENSE) {
        problems.push(Problem::error(
            format!("{}/Cargo.toml", member.folder),
            0,
            format!("licence is `{}`, not `{LICENSE}`", member.license),
            "write `license.workspace = true`",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    #[test]
    fn missing_text_and_other_licence_are_reported() {
        let mut tree = Tree::of(&[("LICENSE", "Apache License\n")]);
        tree.members = vec![Member { license: LICENSE.into(), ..Member::default() }];
        assert_eq!(check(&tree), []);
        tree.members[0].license = "MIT".into();
        tree.files.clear();
        assert_eq!(check(&tree).len(), 2);
    }
}
