//! How much a tenant may have.

use crate::words;

words! {
    /// What is counted.
    Resource {
        Clusters => "clusters",
        Modules => "modules",
        /// Nodes in clusters of the tenant.
        Nodes => "nodes",
    }
}

/// The most of each; `None`: what holds for all tenants, or no limit at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    pub clusters: Option<i64>,
    pub modules: Option<i64>,
    pub nodes: Option<i64>,
}

impl Quotas {
    pub const fn of(&self, resource: Resource) -> Option<i64> {
        match resource {
            Resource::Clusters => self.clusters,
            Resource::Modules => self.modules,
            Resource::Nodes => self.nodes,
        }
    }

    /// These, and where they say nothing the others.
    pub fn or(self, others: Self) -> Self {
        Self {
            clusters: self.clusters.or(others.clusters),
            modules: self.modules.or(others.modules),
            nodes: self.nodes.or(others.nodes),
        }
    }
}
