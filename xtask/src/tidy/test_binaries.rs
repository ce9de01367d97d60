//! Every file of integration tests is compiled. A crate with `autotests = false` lists its test binaries; a new file that
//! neither `Cargo.toml` nor `tests/main.rs` names would never run.

use super::problem::Problem;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &tree.members {
        let Some(manifest) = tree.file(&format!("{}/Cargo.toml", member.folder)) else { continue };
        if !manifest.text.lines().any(|line| line.trim() == "autotests = false") {
            continue;
        }
        let prefix = format!("{}/tests/", member.folder);
        let main = tree.file(&format!("{prefix}main.rs")).map_or("", |file| file.text.as_str());
        for file in tree.files.iter().filter(|file| file.is_rust()) {
            let Some(path) = file.path.strip_prefix(&prefix) else { continue };
            let Some(name) = binary_name(path) else { continue };
            let is_listed = manifest.text.contains(&format!("path = \"tests/{path}\""));
            let is_module = main.lines().any(|line| line.trim() == format!("mod {name};"));
            if !is_listed && !is_module {
                problems.push(Problem::error(
                    &file.path,
                    0,
                    "no test binary compiles this file",
                    format!("add `mod {name};` to `{prefix}main.rs`"),
                ));
            }
        }
    }
    problems
}

/// Returns the name of the test binary that Cargo would discover for a path below `tests`.
fn binary_name(path: &str) -> Option<&str> {
    match path.split('/').collect::<Vec<_>>()[..] {
        [file] => file.strip_suffix(".rs"),
        [folder, "main.rs"] => Some(folder),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Member;

    fn paths(manifest: &str) -> Vec<String> {
        let mut tree = Tree::of(&[
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/tests/main.rs", "mod one;\n#[path = \"two/main.rs\"]\nmod two;\n"),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/two/main.rs", "mod part;"),
            ("crates/a/tests/two/part.rs", ""),
            ("crates/a/tests/three.rs", ""),
            ("crates/a/tests/four/main.rs", ""),
        ]);
        tree.members = vec![Member { folder: "crates/a".into(), ..Member::default() }];
        check(&tree).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn files_without_a_binary_are_reported() {
        let manifest = "autotests = false\n[[test]]\npath = \"tests/main.rs\"\n";
        assert_eq!(paths(manifest), ["crates/a/tests/three.rs", "crates/a/tests/four/main.rs"]);
    }

    #[test]
    fn listed_files_and_discovered_binaries_pass() {
        let manifest = "autotests = false\n[[test]]\npath = \"tests/main.rs\"\n[[test]]\npath = \"tests/three.rs\"\n\
                        [[test]]\npath = \"tests/four/main.rs\"\n";
        assert_eq!(paths(manifest), Vec::<String>::new());
        assert_eq!(paths("[package]\n"), Vec::<String>::new());
    }
}
