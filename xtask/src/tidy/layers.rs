//! Crates depend on lower layers only.
//!
//! The table below is the architecture. A crate without a row is an error: the author of a new crate chooses its layer.

use super::problem::Problem;
use super::tree::Tree;
use crate::workspace::{Dependency, DependencyKind, Member};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    /// Synchronous, deterministic, no I/O.
    Pure,
    /// Split crates: pure specifications and, behind a port, the code that runs them.
    Split,
    /// Shared by both sides of a boundary: messages, client, settings.
    Edge,
    /// Shell crates: one type of I/O per crate.
    Shell,
    /// Use cases over the shell, without a transport.
    Service,
    /// Long-running work over the use cases: runs, leases, agents.
    Orchestration,
    /// Composition roots, as libraries.
    Binary,
    /// The executable.
    Main,
    /// Development crates, which are never shipped.
    Dev,
}

/// Every crate of the workspace: directory under `crates/`, layer.
const LAYERS: &[(&str, Layer)] = &[
    // sorted
    ("agent", Layer::Binary),
    ("api-types", Layer::Edge),
    ("bench", Layer::Dev),
    ("bus", Layer::Shell),
    ("cli", Layer::Binary),
    ("client", Layer::Edge),
    ("conditions", Layer::Pure),
    ("diagnostics", Layer::Pure),
    ("engine", Layer::Pure),
    ("graph", Layer::Pure),
    ("helpers", Layer::Pure),
    ("manifest", Layer::Pure),
    ("model", Layer::Pure),
    ("modules", Layer::Pure),
    ("orchestrator", Layer::Orchestration),
    ("packages", Layer::Shell),
    ("pictures", Layer::Pure),
    ("planner", Layer::Pure),
    ("registry", Layer::Pure),
    ("server", Layer::Binary),
    ("services", Layer::Service),
    ("settings", Layer::Edge),
    ("sim", Layer::Dev),
    ("state", Layer::Pure),
    ("stoker", Layer::Main),
    ("store", Layer::Shell),
    ("tasks", Layer::Split),
    ("testenv", Layer::Dev),
    ("testkit", Layer::Dev),
    ("tls", Layer::Shell),
    ("traces", Layer::Shell),
    ("wire", Layer::Edge),
    ("xtask", Layer::Dev),
    ("yaml", Layer::Pure),
    ("yaql", Layer::Pure),
    // end sorted
];

/// Standalone crates: independent of the product, so they could be published separately.
const ALONE: &[&str] = &["diagnostics", "yaml", "yaql", "xtask"];

/// Dependencies between standalone crates: the loader reports its problems like every other crate.
const ALONE_TOGETHER: &[(&str, &str)] = &[("yaml", "diagnostics")];

/// The support crate for tests of standalone crates; it has no dependencies.
const TEST_SUPPORT: &str = "testenv";

/// The lowest crate: every crate may use it, it uses only the standalone crates.
const BOTTOM: &str = "model";

/// Packages that a pure crate must not depend on, directly or transitively.
const IMPURE: &[&str] = &[
    // sorted
    "async-nats",
    "async-std",
    "axum",
    "chrono",
    "fastrand",
    "getrandom",
    "hyper",
    "mio",
    "nix",
    "rand",
    "rand_core",
    "reqwest",
    "russh",
    "rustls",
    "smol",
    "socket2",
    "sqlx",
    "sqlx-core",
    "tempfile",
    "tokio",
    "tracing-subscriber",
    "ureq",
    "uuid",
    // end sorted
];

pub(super) fn layer_of(short: &str) -> Option<Layer> {
    LAYERS.iter().find(|(name, _)| *name == short).map(|(_, layer)| *layer)
}

/// Returns the name of a workspace package without its prefix: `stoker-yaql` is `yaql`.
pub(super) fn short_name(package: &str) -> &str {
    package.strip_prefix("stoker-").unwrap_or(package)
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &tree.members {
        let manifest = format!("{}/Cargo.toml", member.folder);
        let short = short_name(&member.name);
        let Some(layer) = layer_of(short) else {
            problems.push(Problem::error(
                manifest,
                0,
                format!("crate `{}` has no layer", member.name),
                "add it to the table in `xtask/src/tidy/layers.rs`",
            ));
            continue;
        };
        if let Some(expected) = wrong_folder(member, short, layer) {
            problems.push(Problem::error(
                manifest.clone(),
                0,
                format!("package `{}` is in `{}`", member.name, member.folder),
                format!("the directory of package `stoker-x` is `crates/x`: move it to `{expected}`"),
            ));
        }
        for dependency in &member.dependencies {
            if let Some(reason) = forbidden(tree, short, layer, dependency) {
                problems.push(Problem::error(
                    manifest.clone(),
                    0,
                    format!("`{}` must not depend on `{}`: {reason}", member.name, dependency.name),
                    "invert the dependency, move the shared code to a lower layer, or pass the value as an argument",
                ));
            }
        }
        if layer == Layer::Pure {
            for name in member.reached.iter().filter(|name| IMPURE.contains(&name.as_str())) {
                problems.push(Problem::error(
                    manifest.clone(),
                    0,
                    format!("pure crate `{}` depends on `{name}`", member.name),
                    format!("run `cargo tree -p {} -i {name} -e normal` to find the path", member.name),
                ));
            }
        }
    }
    problems
}

fn wrong_folder(member: &Member, short: &str, layer: Layer) -> Option<String> {
    let expected = if short == "xtask" { "xtask".to_owned() } else { format!("crates/{short}") };
    let is_named_correctly = match layer {
        Layer::Main => member.name == short,
        _ => short == "xtask" || member.name != short,
    };
    (member.folder != expected || !is_named_correctly).then_some(expected)
}

/// Returns the reason why this dependency is not allowed, if it is not. Only crates of the workspace have
/// layers.
fn forbidden(tree: &Tree, from: &str, from_layer: Layer, dependency: &Dependency) -> Option<String> {
    tree.members.iter().find(|member| member.name == dependency.name)?;
    let to = short_name(&dependency.name);
    let to_layer = layer_of(to)?;
    if ALONE.contains(&from) {
        let is_test_support = to == TEST_SUPPORT && dependency.kind == DependencyKind::Dev;
        let is_allowed = is_test_support || ALONE_TOGETHER.contains(&(from, to));
        return (!is_allowed)
            .then(|| format!("`{from}` is standalone and uses no other crate of the workspace"));
    }
    if from_layer == Layer::Dev {
        return None;
    }
    if to_layer == Layer::Dev {
        let allowed = dependency.kind == DependencyKind::Dev;
        return (!allowed).then(|| format!("`{to}` is for tests only"));
    }
    if from == BOTTOM && !ALONE.contains(&to) {
        return Some(format!("`{BOTTOM}` is the lowest crate"));
    }
    if to_layer > from_layer {
        return Some(format!("it belongs to a higher layer ({from_layer:?} to {to_layer:?})"));
    }
    if to_layer == from_layer && from_layer != Layer::Pure {
        return Some(format!("both belong to layer {from_layer:?}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, dependencies: &[(&str, DependencyKind)]) -> Member {
        let short = short_name(name);
        Member {
            name: name.into(),
            folder: if short == "xtask" { "xtask".into() } else { format!("crates/{short}") },
            dependencies: dependencies
                .iter()
                .map(|&(name, kind)| Dependency { name: name.into(), kind })
                .collect(),
            ..Member::default()
        }
    }

    fn messages(members: Vec<Member>) -> Vec<String> {
        let tree = Tree { members, ..Tree::default() };
        check(&tree).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn dependencies_on_lower_layers_pass() {
        let messages = messages(vec![
            member("stoker-model", &[("stoker-yaml", DependencyKind::Normal)]),
            member("stoker-yaml", &[]),
            member(
                "stoker-planner",
                &[("stoker-model", DependencyKind::Normal), ("stoker-graph", DependencyKind::Normal)],
            ),
            member(
                "stoker-graph",
                &[("stoker-model", DependencyKind::Normal), ("stoker-testkit", DependencyKind::Dev)],
            ),
            member("stoker-testkit", &[("stoker-server", DependencyKind::Normal)]),
            member("stoker-store", &[("stoker-model", DependencyKind::Normal)]),
            member("stoker-server", &[("stoker-store", DependencyKind::Normal)]),
            member("stoker", &[("stoker-server", DependencyKind::Normal)]),
        ]);
        assert_eq!(messages, Vec::<String>::new());
    }

    #[test]
    fn higher_same_layer_and_test_crates_are_reported() {
        let messages = messages(vec![
            member("stoker-planner", &[("stoker-store", DependencyKind::Normal)]),
            member("stoker-store", &[("stoker-bus", DependencyKind::Normal)]),
            member("stoker-bus", &[("stoker-testkit", DependencyKind::Normal)]),
            member("stoker-testkit", &[]),
            member("stoker-model", &[("stoker-planner", DependencyKind::Normal)]),
        ]);
        assert_eq!(messages.len(), 4, "{messages:#?}");
        assert!(
            messages[0]
                .contains("`stoker-planner` must not depend on `stoker-store`: it belongs to a higher layer")
        );
        assert!(messages[1].contains("both belong"));
        assert!(messages[2].contains("for tests only"));
        assert!(messages[3].contains("lowest"));
    }

    #[test]
    fn standalone_crates_use_only_test_support_and_diagnostics() {
        let messages = messages(vec![
            member(
                "stoker-yaql",
                &[("stoker-yaml", DependencyKind::Dev), ("stoker-testenv", DependencyKind::Dev)],
            ),
            member(
                "stoker-yaml",
                &[("stoker-model", DependencyKind::Normal), ("stoker-diagnostics", DependencyKind::Normal)],
            ),
            member("stoker-diagnostics", &[("stoker-yaml", DependencyKind::Normal)]),
            member("stoker-model", &[("stoker-diagnostics", DependencyKind::Normal)]),
            member("stoker-testenv", &[]),
        ]);
        assert_eq!(messages.len(), 3, "{messages:#?}");
    }

    #[test]
    fn runtime_in_a_pure_crate_is_reported() {
        let mut yaql = member("stoker-yaql", &[]);
        yaql.reached.insert("tokio".into());
        let messages = messages(vec![yaql]);
        assert_eq!(messages, ["pure crate `stoker-yaql` depends on `tokio`"]);
    }

    #[test]
    fn unknown_and_misplaced_crates_are_reported() {
        let mut moved = member("stoker-yaql", &[]);
        moved.folder = "crates/query".into();
        let messages = messages(vec![member("stoker-utils", &[]), moved, member("graph", &[])]);
        assert_eq!(messages.len(), 3, "{messages:#?}");
        assert!(messages[0].contains("no layer"));
    }
}
