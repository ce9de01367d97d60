//! Locations: the root of the repository, the metadata of cargo, the target directory and the cache directory.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{capture, cargo, run};

/// Returns the root of the repository. Read at run time, not at compile time: several clones may share one
/// target directory and with it one binary.
pub(crate) fn root() -> PathBuf {
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Returns the directory for tools that several clones share: in the user's cache directory, or the target
/// directory if there is none.
pub(crate) fn cache_dir(target_dir: &Path) -> PathBuf {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map_or_else(|| target_dir.to_path_buf(), |cache| cache.join("stoker"))
}

/// The part of `cargo metadata` that this tool uses.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) target_dir: PathBuf,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

/// A package of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Directory relative to the root, with `/`.
    pub(crate) folder: String,
    pub(crate) license: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// Transitive closure of the normal dependencies on this platform.
    pub(crate) reached: BTreeSet<String>,
    pub(crate) binaries: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    Normal,
    Build,
    Dev,
}

impl Metadata {
    pub(crate) fn load(root: &Path) -> Outcome<Self> {
        let host = host_triple()?;
        let mut command = cargo();
        command.current_dir(root).args(["metadata", "--format-version", "1", "--filter-platform", &host]);
        let text = capture(&mut command)?;
        let value: Value =
            serde_json::from_str(&text).context("cannot read the output of `cargo metadata`")?;
        Self::parse(&value, root).ok_or_else(|| Failure::new("`cargo metadata` printed unexpected JSON"))
    }

    /// Builds `stoker` and returns the path of the binary.
    pub(crate) fn build_stoker(&self, root: &Path, profile: Profile) -> Outcome<PathBuf> {
        self.build_binary(root, "stoker", profile)
    }

    /// Builds a binary with the features of the whole workspace. Building one package alone would unify other features
    /// and recompile many dependencies.
    pub(crate) fn build_binary(&self, root: &Path, name: &str, profile: Profile) -> Outcome<PathBuf> {
        if !self.has_binary(name) {
            return Err(Failure::new(format!("the workspace has no binary `{name}`")));
        }
        let mut command = cargo();
        command.current_dir(root).args(["build", "--workspace", "--bin", name]);
        let folder = match profile {
            Profile::Dev => "debug",
            Profile::Release => {
                command.arg("--release");
                "release"
            }
        };
        run(&mut command)?;
        Ok(self.target_dir.join(folder).join(name))
    }

    pub(crate) fn has_binary(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.binaries.iter().any(|binary| binary == name))
    }

    fn parse(value: &Value, root: &Path) -> Option<Self> {
        let packages = value["packages"].as_array()?;
        let member_ids: BTreeSet<&str> =
            value["workspace_members"].as_array()?.iter().filter_map(Value::as_str).collect();
        let graph = Graph::parse(value)?;
        let mut members = Vec::new();
        for package in packages {
            let id = package["id"].as_str()?;
            if member_ids.contains(id) {
                members.push(parse_member(package, root, graph.reached_from(id))?);
            }
        }
        members.sort_by(|a, b| a.name.cmp(&b.name));
        Some(Self { target_dir: value["target_directory"].as_str()?.into(), members })
    }
}

fn parse_member(package: &Value, root: &Path, reached: BTreeSet<String>) -> Option<Member> {
    let manifest = Path::new(package["manifest_path"].as_str()?);
    let folder = manifest.parent()?.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
    let dependencies = package["dependencies"]
        .as_array()?
        .iter()
        .map(|dependency| {
            let kind = match dependency["kind"].as_str() {
                Some("dev") => DependencyKind::Dev,
                Some("build") => DependencyKind::Build,
                _ => DependencyKind::Normal,
            };
            Some(Dependency { name: dependency["name"].as_str()?.to_owned(), kind })
        })
        .collect::<Option<_>>()?;
    let is_binary = |target: &&Value| {
        target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"))
    };
    Some(Member {
        name: package["name"].as_str()?.to_owned(),
        folder,
        license: package["license"].as_str().unwrap_or_default().to_owned(),
        dependencies,
        reached,
        binaries: package["targets"]
            .as_array()?
            .iter()
            .filter(is_binary)
            .filter_map(|target| target["name"].as_str().map(str::to_owned))
            .collect(),
    })
}

/// The resolved dependency graph, normal dependencies only.
struct Graph<'a> {
    edges: BTreeMap<&'a str, Vec<&'a str>>,
    names: BTreeMap<&'a str, &'a str>,
}

impl<'a> Graph<'a> {
    fn parse(value: &'a Value) -> Option<Self> {
        let mut names = BTreeMap::new();
        for package in value["packages"].as_array()? {
            names.insert(package["id"].as_str()?, package["name"].as_str()?);
        }
        let mut edges = BTreeMap::new();
        for node in value["resolve"]["nodes"].as_array()? {
            let normal = |dependency: &&Value| {
                dependency["dep_kinds"]
                    .as_array()
                    .is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
            };
            let targets = node["deps"]
                .as_array()?
                .iter()
                .filter(normal)
                .filter_map(|dep| dep["pkg"].as_str())
                .collect();
            edges.insert(node["id"].as_str()?, targets);
        }
        Some(Self { edges, names })
    }

    fn reached_from(&self, start: &str) -> BTreeSet<String> {
        let mut visited = BTreeSet::new();
        let mut pending = vec![start];
        while let Some(id) = pending.pop() {
            for &next in self.edges.get(id).into_iter().flatten() {
                if visited.insert(next) {
                    pending.push(next);
                }
            }
        }
        visited.into_iter().filter_map(|id| self.names.get(id).map(|&name| name.to_owned())).collect()
    }
}

/// Returns the default target of rustc.
pub(crate) fn host_triple() -> Outcome<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let text = capture(std::process::Command::new(rustc).arg("-vV"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("`rustc -vV` prints no host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_transitive_dependencies_are_parsed() {
        let value = serde_json::json!({
            "target_directory": "/t",
            "workspace_members": ["a#1"],
            "packages": [
                {"id": "a#1", "name": "stoker-a", "manifest_path": "/r/crates/a/Cargo.toml", "license": "Apache-2.0",
                 "dependencies": [{"name": "b", "kind": null}, {"name": "p", "kind": "dev"}],
                 "targets": [{"name": "a", "kind": ["lib"]}, {"name": "tool", "kind": ["bin"]}]},
                {"id": "b#1", "name": "b"}, {"id": "c#1", "name": "c"}, {"id": "p#1", "name": "p"},
            ],
            "resolve": {"nodes": [
                {"id": "a#1", "deps": [
                    {"pkg": "b#1", "dep_kinds": [{"kind": null}]}, {"pkg": "p#1", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "b#1", "deps": [{"pkg": "c#1", "dep_kinds": [{"kind": null}]}]},
            ]},
        });
        let metadata = Metadata::parse(&value, Path::new("/r")).unwrap();
        let member = &metadata.members[0];
        assert_eq!((member.name.as_str(), member.folder.as_str()), ("stoker-a", "crates/a"));
        assert_eq!(member.reached, BTreeSet::from(["b".to_owned(), "c".to_owned()]));
        assert_eq!(member.dependencies[1], Dependency { name: "p".into(), kind: DependencyKind::Dev });
        assert!(metadata.has_binary("tool") && !metadata.has_binary("a"));
    }

    #[test]
    fn metadata_of_this_workspace_is_parsed() {
        let metadata = Metadata::load(&root()).unwrap();
        assert!(metadata.has_binary("xtask"));
    }
}
