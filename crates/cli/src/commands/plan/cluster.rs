//! Reads the state of a cluster from a folder and the tags of its nodes from a file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use stoker_planner::{NodeInput, SplitDocuments, split_common};
use stoker_state::Document;
use stoker_yaql::Value;

use crate::exit::{Failure, Outcome};
use crate::input::read_any_data;
use crate::printer::Printer;

pub(super) struct Cluster {
    pub(super) common: Document,
    /// Node documents, sorted by UID.
    pub(super) nodes: Vec<(String, Document)>,
}

impl Cluster {
    /// Reads every document in a folder that has a top-level `uid`.
    pub(super) fn read(folder: &Path, printer: &mut Printer) -> Outcome<Self> {
        let read_error =
            |error: io::Error| Failure::input(format!("cannot read `{}`: {error}", folder.display()));
        let mut documents_by_uid: BTreeMap<String, (PathBuf, Value)> = BTreeMap::new();
        for path in document_paths(folder).map_err(read_error)? {
            let data = read_any_data(&path)?;
            let Some(uid) = uid(&data.value) else { continue };
            data.warnings.iter().for_each(|warning| printer.diagnostic(warning));
            if let Some((other, _)) = documents_by_uid.insert(uid.clone(), (path.clone(), data.value)) {
                let (path, other) = (path.display(), other.display());
                return Err(Failure::input(format!("`{path}` and `{other}` have the same `uid` `{uid}`")));
            }
        }
        let documents: Vec<Value> = documents_by_uid.values().map(|(_, document)| document.clone()).collect();
        let SplitDocuments { common, own } = split_common(&documents);
        Ok(Self { common, nodes: documents_by_uid.into_keys().zip(own).collect() })
    }
}

fn document_paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_document = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("yaml" | "yml" | "json")) && path.is_file()
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_document(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn uid(document: &Value) -> Option<String> {
    text(document.as_map()?.get_str("uid")?)
}

/// Accepts UIDs written as numbers.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the nodes with their tags. A larger document may hold the tags under `node_tags`.
pub(super) fn read_tags(
    cluster: &Cluster,
    path: &Path,
    warnings: &mut Vec<String>,
) -> Outcome<Vec<NodeInput>> {
    let data = read_any_data(path)?.value;
    let input_error = |message: &str| Failure::input(format!("`{}`: {message}", path.display()));
    let map = data.as_map().ok_or_else(|| input_error("expected a map from UIDs to lists of tags"))?;
    let map = map.get_str("node_tags").and_then(Value::as_map).unwrap_or(map);
    let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in map.iter() {
        let uid = text(key).ok_or_else(|| input_error("a UID must be a string or a number"))?;
        let list = match value {
            Value::Null => Some(Vec::new()),
            Value::Str(tag) => Some(vec![tag.to_string()]),
            other => other.as_seq().and_then(|items| items.iter().map(text).collect()),
        };
        tags.insert(
            uid.clone(),
            list.ok_or_else(|| input_error(&format!("the tags of `{uid}` must be a list of strings")))?,
        );
    }
    let uids: BTreeSet<&str> = cluster.nodes.iter().map(|(uid, _)| uid.as_str()).collect();
    for uid in tags.keys().filter(|uid| !uids.contains(uid.as_str())) {
        warnings.push(format!("`{}` has tags for node `{uid}`, which has no document", path.display()));
    }
    let node = |(uid, own): &(String, Document)| {
        if !tags.contains_key(uid) {
            warnings.push(format!("`{}` has no entry for node `{uid}`; it gets no tags", path.display()));
        }
        let tags = tags.get(uid).cloned().unwrap_or_default();
        NodeInput { uid: uid.clone(), tags, document: own.clone(), record: None }
    };
    Ok(cluster.nodes.iter().map(node).collect())
}
