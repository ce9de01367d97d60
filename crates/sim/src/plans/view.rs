//! States as the oracle reads them.

use serde_json::{Value as Json, json};

use super::expression::Path;
use super::site::{Site, SiteNode};

/// A state as an expression sees it: the site from the point of view of a node.
#[derive(Clone, Copy)]
pub(super) struct View<'v> {
    pub(super) site: &'v Site,
    pub(super) uid: &'v str,
}

impl View<'_> {
    pub(super) fn value(&self, path: &Path) -> Option<Json> {
        let node = self.site.nodes.get(self.uid);
        match path {
            Path::Setting(keys) => {
                let (section, rest) = keys.split_first()?;
                rest.iter().try_fold(self.section(section)?, |value, key| value.get(*key).cloned())
            }
            Path::Labels => Some(node?.labels_as_text()),
            Path::Label(name) => node?.labels.get(name).map(|value| json!(value.to_string())),
            Path::NetworkScheme => node?.gateway.map(|gateway| json!(gateway)),
            Path::Status => node.map(|node| json!(node.status)),
            Path::ClusterStatus => Some(json!(self.site.status)),
            Path::Nodes => Some(self.records(|_| true)),
            Path::NodesOf(role) => Some(self.records(|record| record["role"] == *role)),
            Path::NodeUids => Some(self.column("uid")),
            Path::NodeStatuses => Some(self.column("status")),
        }
    }

    pub(super) fn section(&self, section: &str) -> Option<Json> {
        let settings = self.site.settings.iter().filter(|((of, _), _)| *of == section);
        let settings: serde_json::Map<String, Json> =
            settings.map(|((_, name), value)| ((*name).to_owned(), value.clone())).collect();
        (!settings.is_empty()).then_some(Json::Object(settings))
    }

    fn column(&self, key: &str) -> Json {
        let Json::Array(records) = self.records(|_| true) else { return Json::Null };
        records.into_iter().map(|mut record| record[key].take()).collect()
    }

    /// One record per node and role.
    fn records(&self, is_wanted: impl Fn(&Json) -> bool) -> Json {
        let staying = self.site.nodes.iter().filter(|(_, node)| !node.pending_deletion);
        staying.flat_map(|(uid, node)| node.records(uid)).filter(is_wanted).collect()
    }
}

impl SiteNode {
    fn labels_as_text(&self) -> Json {
        self.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value.to_string()))).collect()
    }

    fn records(&self, uid: &str) -> Vec<Json> {
        let of_role = |role: &'static str| {
            json!({
                "uid": uid, "role": role, "status": self.status, "roles": self.all_roles(),
                "pending_roles": self.pending_roles, "pending_addition": self.pending_addition,
                "labels": self.labels_as_text(), "gateway": self.gateway,
            })
        };
        self.all_roles().into_iter().map(of_role).collect()
    }
}
