//! Dashboard links to web pages that a plugin provides.

use crate::{ClusterId, LinkId, PluginId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOwner {
    /// A page of this cluster only.
    Cluster(ClusterId),
    /// A page shared by all clusters with the plugin.
    Plugin(PluginId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: LinkId,
    pub generation: i64,
    pub owner: LinkOwner,
    pub body: LinkBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkBody {
    pub title: String,
    /// URL, unique among the links of the owner.
    pub url: String,
    pub description: Option<String>,
    /// Whether the link is stored but not displayed.
    pub hidden: bool,
}
