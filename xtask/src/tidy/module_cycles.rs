//! Top-level modules of a crate depend on each other in one direction.
//!
//! Crates are layered by `layers`; this rule keeps each crate readable from bottom to top. It follows
//! `crate::` and `super::` paths, groups and re-exports of the crate root. It does not expand macros, and it
//! interprets `super` inside an inline module as the parent of the file.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::purity::take_uses;
use super::rust_source::{code_without_tests, line_at};
use super::tree::{File, Tree};

/// Crates that still have a cycle, each with its cause. Temporary: a crate is removed with its last cycle,
/// and no crate is added.
const EXCEPTIONS: &[(&str, &str)] = &[
    // sorted
    // end sorted
];

/// Module → module it imports → the first import, as `file:line`.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<Problem> {
    let mut crates: BTreeMap<&str, Vec<(&str, &File)>> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| file.is_rust() && !file.is_test_only()) {
        let Some((root, inner)) = file.path.split_once("/src/") else { continue };
        if root == "xtask" || root.strip_prefix("crates/").is_some_and(|name| !name.contains('/')) {
            crates.entry(root).or_default().push((inner, file));
        }
    }
    let mut problems = Vec::new();
    for (root, files) in crates {
        let short = root.rsplit('/').next().unwrap_or(root);
        let is_known = exceptions.iter().any(|(name, _)| *name == short);
        let cycles = cycles(&imports(&files));
        if is_known && cycles.is_empty() {
            problems.push(Problem::error(
                "xtask/src/tidy/module_cycles.rs",
                0,
                format!("`{short}` has no cycle among its modules any more"),
                "remove its row from `EXCEPTIONS`",
            ));
        }
        if !is_known {
            problems.extend(cycles.into_iter().map(|cycle| {
                Problem::error(
                    format!("{root}/src"),
                    0,
                    format!("modules import each other: {cycle}"),
                    "move the shared part down, turn one import round, or pass the value as an argument",
                )
            }));
        }
    }
    problems
}

fn imports(files: &[(&str, &File)]) -> Imports {
    let tops: BTreeSet<&str> =
        files.iter().filter_map(|(inner, _)| module_of(inner).first().copied()).collect();
    let mut exported: BTreeMap<String, String> = BTreeMap::new();
    for (_, file) in files.iter().filter(|(inner, _)| module_of(inner).is_empty()) {
        for (_, path) in take_uses(&mut code_without_tests(&file.text)) {
            let segments = absolute(&[], &path);
            if let [module, .., name] = &segments[..]
                && tops.contains(module.as_str())
            {
                exported.insert(name.clone(), module.clone());
            }
        }
    }
    let mut imports = Imports::new();
    for (inner, file) in files {
        let module = module_of(inner);
        let Some(own) = module.first() else { continue };
        for (line, path) in paths_in(&file.text) {
            let segments = absolute(&module, &path);
            let Some(first) = segments.first() else { continue };
            let target = if tops.contains(first.as_str()) { Some(first) } else { exported.get(first) };
            if let Some(target) = target.filter(|target| target != own) {
                let places = imports.entry((*own).to_owned()).or_default();
                places.entry(target.clone()).or_insert_with(|| format!("{inner}:{line}"));
            }
        }
    }
    imports
}

/// Returns the path of a module from its file: `runs/driver.rs` is `runs`, `driver`; the root of the crate
/// has an empty path.
fn module_of(inner: &str) -> Vec<&str> {
    let path = inner.strip_suffix(".rs").unwrap_or(inner);
    let mut segments: Vec<&str> = path.split('/').collect();
    if segments == ["lib"] || segments == ["main"] {
        return Vec::new();
    }
    if segments.last() == Some(&"mod") {
        segments.pop();
    }
    segments
}

/// Returns the paths that begin with `crate` or `super`, with their lines.
fn paths_in(text: &str) -> Vec<(usize, String)> {
    let mut code = code_without_tests(text);
    let mut paths = take_uses(&mut code);
    paths.retain(|(_, path)| path.starts_with("crate::") || path.starts_with("super::"));
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let rest = &code[at..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
            paths.push((line_at(&code, at), rest[..end.unwrap_or(rest.len())].to_owned()));
        }
    }
    paths
}

/// Returns the segments of a path from the root of the crate; empty if the path leaves the crate.
fn absolute(module: &[&str], path: &str) -> Vec<String> {
    let mut base: Vec<&str> = Vec::new();
    let mut segments = path.split("::").filter(|segment| !segment.is_empty()).peekable();
    match segments.peek() {
        Some(&"crate") => _ = segments.next(),
        Some(&"super") => {
            base = module.to_vec();
            while segments.peek() == Some(&"super") {
                segments.next();
                if base.pop().is_none() {
                    return Vec::new();
                }
            }
        }
        Some(&"self") => {
            segments.next();
            base = module.to_vec();
        }
        _ if module.is_empty() => {}
        _ => return Vec::new(),
    }
    base.into_iter().chain(segments).map(str::to_owned).collect()
}

/// Returns one line for each set of modules that reach each other: a shortest path from the first of them
/// back to itself.
fn cycles(imports: &Imports) -> Vec<String> {
    let mut visited_modules: BTreeSet<&str> = BTreeSet::new();
    let mut cycles = Vec::new();
    for module in imports.keys() {
        if visited_modules.contains(module.as_str()) {
            continue;
        }
        let Some(way) = way_back(imports, module) else { continue };
        let steps: Vec<String> = way
            .windows(2)
            .map(|pair| {
                let place = imports.get(pair[0]).and_then(|targets| targets.get(pair[1]));
                format!("`{}` imports `{}` ({})", pair[0], pair[1], place.map_or("?", String::as_str))
            })
            .collect();
        // Modules that reach this module and are reachable from it form one strongly connected component.
        visited_modules.extend(
            reached(imports, module)
                .into_iter()
                .filter(|other| reached(imports, other).contains(module.as_str())),
        );
        cycles.push(steps.join(", "));
    }
    cycles
}

fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(module) = open.pop() {
        for target in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(target.as_str()) {
                open.push(target);
            }
        }
    }
    reached
}

/// Searches breadth-first, so that the reported cycle is short.
fn way_back<'i>(imports: &'i Imports, start: &'i str) -> Option<Vec<&'i str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut level: Vec<&str> = vec![start];
    while !level.is_empty() {
        let mut next = Vec::new();
        for module in level {
            for target in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
                if target == start {
                    let mut way = vec![start, module];
                    let mut at = module;
                    while at != start {
                        at = before.get(at).copied()?;
                        way.push(at);
                    }
                    way.reverse();
                    return Some(way);
                }
                if !before.contains_key(target.as_str()) {
                    before.insert(target, module);
                    next.push(target.as_str());
                }
            }
        }
        level = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)], known: &[(&str, &str)]) -> Vec<String> {
        check_with(&Tree::of(files), known).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn downward_imports_are_fine() {
        let files = [
            ("crates/a/src/lib.rs", "mod low; mod high; pub use low::Thing;"),
            ("crates/a/src/low.rs", "use std::fmt; pub struct Thing;"),
            ("crates/a/src/high/mod.rs", "mod inner; use crate::low::Thing; use super::low;"),
            ("crates/a/src/high/inner.rs", "use super::other; use crate::Thing;"),
        ];
        assert_eq!(messages(&files, &[]), Vec::<String>::new());
    }

    #[test]
    fn a_cycle_is_reported_with_its_imports() {
        let files = [
            ("crates/a/src/lib.rs", "mod one;\nmod two;\nmod three;"),
            ("crates/a/src/one.rs", "use crate::{\n    two::Two,\n};"),
            ("crates/a/src/two/mod.rs", "mod deep;"),
            ("crates/a/src/two/deep.rs", "fn f() { super::super::three::g() }"),
            ("crates/a/src/three.rs", "\nuse super::one::One;"),
        ];
        let expected = "modules import each other: `one` imports `two` (one.rs:1), `two` imports `three` \
                        (two/deep.rs:1), `three` imports `one` (three.rs:2)";
        assert_eq!(messages(&files, &[]), [expected]);
    }

    #[test]
    fn re_exports_of_the_root_hide_nothing_and_tests_do_not_count() {
        let cyclic = [
            ("crates/a/src/lib.rs", "mod one; mod two; pub use one::One;"),
            ("crates/a/src/one.rs", "use crate::two;"),
            ("crates/a/src/two.rs", "use crate::One;"),
        ];
        assert_eq!(messages(&cyclic, &[]).len(), 1);
        let tested = [
            ("crates/a/src/lib.rs", "mod one; mod two;"),
            ("crates/a/src/one.rs", "use crate::two;"),
            ("crates/a/src/two.rs", "#[cfg(test)]\nmod tests { use crate::one::One; }"),
        ];
        assert_eq!(messages(&tested, &[]), Vec::<String>::new());
    }

    #[test]
    fn a_known_cycle_is_excused_until_it_is_gone() {
        let known = [("a", "reason")];
        let cyclic = [
            ("crates/a/src/lib.rs", "mod one; mod two;"),
            ("crates/a/src/one.rs", "use crate::two;"),
            ("crates/a/src/two.rs", "use crate::one;"),
        ];
        assert_eq!(messages(&cyclic, &known), Vec::<String>::new());
        let found = messages(&[("crates/a/src/lib.rs", "mod one;"), ("crates/a/src/one.rs", "")], &known);
        assert_eq!(found, ["`a` has no cycle among its modules any more"]);
    }
}
