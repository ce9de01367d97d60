//! Quotas of tenants.

use crate::words;

words! {
    /// A counted resource.
    Resource {
        Clusters => "clusters",
        Modules => "modules",
        /// Nodes in clusters of the tenant.
        Nodes => "nodes",
    }
}

/// Maximum of each resource; `None` means the default quota, or unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    pub clusters: Option<i64>,
    pub modules: Option<i64>,
    pub nodes: Option<i64>,
}

impl Quotas {
    pub const fn limit(&self, resource: Resource) -> Option<i64> {
        match resource {
            Resource::Clusters => self.clusters,
            Resource::Modules => self.modules,
            Resource::Nodes => self.nodes,
        }
    }

    /// Fills missing quotas from `others`.
    pub fn or(self, others: Self) -> Self {
        Self {
            clusters: self.clusters.or(others.clusters),
            modules: self.modules.or(others.modules),
            nodes: self.nodes.or(others.nodes),
        }
    }
}
