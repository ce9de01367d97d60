//! Conditions of real plugins and releases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stoker_conditions::{Condition, Dialect, ModelPath, rewrite_for_deployment};
use stoker_testkit::real_data;
use stoker_yaml::{LoadLimits, Node, NodeKind, load};

fn files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
}

/// Restrictions in their three forms, and conditions of limits.
#[derive(Default)]
struct Collector {
    restrictions: BTreeSet<String>,
    n_restrictions: usize,
}

impl Collector {
    fn visit(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Scalar(_) => {}
            NodeKind::Seq(items) => items.iter().for_each(|item| self.visit(item)),
            NodeKind::Map(entries) => {
                for (key, value) in entries.iter() {
                    match (key.as_str(), value.as_seq(), value.as_str()) {
                        (Some("restrictions"), Some(items), _) => {
                            for item in items {
                                self.restriction(item);
                            }
                        }
                        (Some("condition"), _, Some(text)) => _ = self.restrictions.insert(text.to_owned()),
                        _ => self.visit(value),
                    }
                }
            }
        }
    }

    fn restriction(&mut self, node: &Node) {
        let short = || node.as_map().and_then(|entries| entries.first()).and_then(|(key, _)| key.as_str());
        let full = node.get("condition").and_then(Node::as_str);
        let text = node.as_str().or(full).or_else(short);
        self.n_restrictions += 1;
        self.restrictions.insert(text.unwrap_or_else(|| panic!("{node:?}")).to_owned());
    }
}

#[test]
fn real_conditions_are_parsed() {
    let mut paths = Vec::new();
    for readme in ["plugins/README.md", "releases/README.md"] {
        let Some(readme) = real_data(readme) else { return };
        files(readme.parent().unwrap(), &mut paths);
    }
    assert!(paths.len() > 150, "{}", paths.len());
    let mut collector = Collector::default();
    for path in &paths {
        let loaded = load(&std::fs::read_to_string(path).unwrap(), &LoadLimits::default());
        loaded.documents.iter().for_each(|document| collector.visit(&document.root));
    }
    for text in &collector.restrictions {
        if Condition::parse_as(text, Dialect::RESTRICTION).is_ok() {
            continue;
        }
        // The rest are bare paths of legacy wizards, whose panes are capitalized.
        let condition = Condition::parse_as(text, Dialect::LEGACY_WIZARD);
        let condition = condition.unwrap_or_else(|error| panic!("{text}: {error}"));
        let is_pane = |key: &str| key.starts_with(char::is_uppercase);
        let mut paths = condition.paths().into_iter();
        assert!(paths.any(|path| path.model == "wizard" && is_pane(&path.keys[0])), "{text}");
    }
    // No task in this data has a condition; restrictions use the same language over the same settings.
    for text in collector.restrictions.iter().filter(|text| Condition::parse(text).is_ok()) {
        let rewritten = rewrite_for_deployment(text);
        let condition = Condition::parse(&rewritten).unwrap();
        let is_undeployed =
            |path: &&ModelPath| path.model == "settings" && path.keys.ends_with(&["value".to_owned()]);
        assert!(!condition.paths().iter().any(is_undeployed), "{text} became {rewritten}");
    }
    assert_eq!(collector.n_restrictions, 1017);
    assert!(collector.restrictions.len() >= 146, "{}", collector.restrictions.len());
}
