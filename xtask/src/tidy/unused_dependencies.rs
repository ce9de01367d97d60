//! Every declared dependency is used: a workspace entry by a member, a member's dependency by a source file.
//!
//! A normal dependency must be named in code that ships; a dependency that only tests name belongs in
//! `[dev-dependencies]`. The rule looks for the name of the library as a whole word in code, without comments
//! and string literals. It cannot detect a crate that is linked only for its side effects; such a crate goes
//! into [`EXCEPTIONS`].

use std::collections::BTreeSet;

use super::manifests::{Entry, entries};
use super::problem::Problem;
use super::purity::contains_path;
use super::rust_source::{code_without_tests, split};
use super::tree::{File, Tree};
use crate::workspace::Member;

/// Packages whose library has another name.
const LIBRARY_NAMES: &[(&str, &str)] = &[("md-5", "md5")];

/// Reason why no file below `crates/sim` names the dependencies that read the real plan.
const INCLUDED: &str = "used by `crates/engine/tests/engine/real_plan.rs`, which the tests include by path";

/// Member, dependency, and the reason why no source file names it.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // sorted
    ("stoker-sim", "serde_json", INCLUDED),
    ("stoker-sim", "stoker-helpers", INCLUDED),
    ("stoker-sim", "stoker-manifest", INCLUDED),
    ("stoker-sim", "stoker-planner", INCLUDED),
    ("stoker-sim", "stoker-testkit", INCLUDED),
    ("stoker-sim", "stoker-yaml", INCLUDED),
    ("stoker-sim", "stoker-yaql", INCLUDED),
    // end sorted
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[(&str, &str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut inherited = BTreeSet::new();
    for member in &tree.members {
        let path = format!("{}/Cargo.toml", member.folder);
        let Some(manifest) = tree.file(&path) else { continue };
        let sources = Sources::of(tree, member);
        for entry in entries(&manifest.text) {
            let Some((section, package)) = declaration(&entry) else { continue };
            let is_excepted =
                exceptions.iter().any(|(name, dependency, _)| *name == member.name && *dependency == package);
            if !is_excepted && let Some((message, help)) = sources.misuse(section, &package) {
                problems.push(Problem::error(&path, entry.line, message, help));
            }
            inherited.insert(package);
        }
    }
    let Some(root) = tree.file("Cargo.toml") else { return problems };
    for entry in entries(&root.text).into_iter().filter(|entry| entry.section == "workspace.dependencies") {
        if !inherited.contains(&entry.key) {
            problems.push(Problem::error(
                "Cargo.toml",
                entry.line,
                format!("no member uses the workspace dependency `{}`", entry.key),
                "remove the entry",
            ));
        }
    }
    problems
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Normal,
    Build,
    Dev,
}

/// Returns the section and the package of a manifest entry that declares a dependency.
fn declaration(entry: &Entry) -> Option<(Section, String)> {
    // Handles `[target.'cfg(unix)'.dependencies]` and `[dependencies.name]`.
    let (head, package) = match entry.section.rsplit_once("dependencies.") {
        Some((head, package)) if entry.key == "workspace" => (head, package.to_owned()),
        Some(_) => return None,
        None => {
            let head = entry.section.strip_suffix("dependencies")?;
            (head, entry.key.trim_end_matches(".workspace").to_owned())
        }
    };
    let section = match head.rsplit('.').next()? {
        "" => Section::Normal,
        "build-" => Section::Build,
        "dev-" => Section::Dev,
        _ => return None,
    };
    Some((section, package))
}

/// The code of one member, literals and comments blanked.
struct Sources {
    shipped: String,
    build: String,
    tests: String,
}

impl Sources {
    fn of(tree: &Tree, member: &Member) -> Self {
        let mut sources = Self { shipped: String::new(), build: String::new(), tests: String::new() };
        let prefix = format!("{}/", member.folder);
        for file in tree.files.iter().filter(|file| file.is_rust() && file.path.starts_with(&prefix)) {
            sources.add(file, &file.path[prefix.len()..]);
        }
        sources
    }

    fn add(&mut self, file: &File, path: &str) {
        if path == "build.rs" {
            self.build.push_str(&split(&file.text).code);
        } else if path.starts_with("src/") && !file.is_test_only() {
            self.shipped.push_str(&code_without_tests(&file.text));
            self.tests.push_str(&split(&file.text).code);
        } else {
            self.tests.push_str(&split(&file.text).code);
        }
    }

    /// Returns the problem with a declaration and its fix, or `None`.
    fn misuse(&self, section: Section, package: &str) -> Option<(String, &'static str)> {
        let library = LIBRARY_NAMES.iter().find(|(name, _)| *name == package);
        let library = library.map_or_else(|| package.replace('-', "_"), |(_, library)| (*library).to_owned());
        let (is_shipped, is_tested) =
            (contains_path(&self.shipped, &library), contains_path(&self.tests, &library));
        let is_used = match section {
            Section::Normal => is_shipped,
            Section::Build => contains_path(&self.build, &library),
            Section::Dev => is_tested,
        };
        if is_used {
            return None;
        }
        if section == Section::Normal && is_tested {
            return Some((
                format!("only tests use the dependency `{package}`"),
                "move it to `[dev-dependencies]`",
            ));
        }
        Some((
            format!("no source file names the dependency `{package}`"),
            "remove it, or list it with a reason in `xtask/src/tidy/unused_dependencies.rs`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(manifest: &str, files: &[(&str, &str)], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
        let root = "[workspace.dependencies]\nused-one = \"1\"\nmd-5 = \"1\"\nunused = { version = \"1\" }\n";
        let mut all = vec![("Cargo.toml", root), ("crates/a/Cargo.toml", manifest)];
        all.extend(files);
        let mut tree = Tree::of(&all);
        tree.members = vec![Member { name: "a".into(), folder: "crates/a".into(), ..Member::default() }];
        check_with(&tree, exceptions).into_iter().map(|problem| problem.message).collect()
    }

    const MANIFEST: &str = "[dependencies]\nused-one.workspace = true\nmd-5.workspace = true\n";
    const UNUSED_ENTRY: &str = "no member uses the workspace dependency `unused`";

    #[test]
    fn named_libraries_are_used() {
        let source = ("crates/a/src/lib.rs", "use used_one::A;\nfn a() { md5::sum(); }\n");
        assert_eq!(messages(MANIFEST, &[source], &[]), [UNUSED_ENTRY]);
    }

    #[test]
    fn comments_strings_and_longer_names_do_not_count() {
        let source =
            ("crates/a/src/lib.rs", "// used_one\nconst A: &str = \"used_one\";\nuse used_one_more::md5;\n");
        let expected = ["no source file names the dependency `used-one`", UNUSED_ENTRY];
        assert_eq!(messages(MANIFEST, &[source], &[]), expected);
        let exceptions = [("a", "used-one", "linked for its side effects")];
        assert_eq!(messages(MANIFEST, &[source], &exceptions), [UNUSED_ENTRY]);
    }

    #[test]
    fn dependency_of_tests_alone_is_reported() {
        let test = "use md5::A;\n#[cfg(test)]\nmod tests { use used_one::A; }\n";
        let expected = ["only tests use the dependency `used-one`", UNUSED_ENTRY];
        assert_eq!(messages(MANIFEST, &[("crates/a/src/lib.rs", test)], &[]), expected);
        let manifest = MANIFEST.replace("[dep", "[dev-dep");
        assert_eq!(messages(&manifest, &[("crates/a/src/lib.rs", test)], &[]), [UNUSED_ENTRY]);
    }

    #[test]
    fn every_form_of_section_is_read() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nused-one.workspace = true\n\
                        [build-dependencies.md-5]\nworkspace = true\nfeatures = [\"x\"]\n";
        let sources = [("crates/a/src/lib.rs", "use used_one::A;"), ("crates/a/build.rs", "fn main() {}")];
        let expected = ["no source file names the dependency `md-5`", UNUSED_ENTRY];
        assert_eq!(messages(manifest, &sources, &[]), expected);
    }
}
