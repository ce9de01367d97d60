//! A link that dashboards show: to a page of something that a plugin has brought along.

use crate::{ClusterId, LinkId, PluginId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOwner {
    /// Something that is there for this cluster alone.
    Cluster(ClusterId),
    /// Something that all clusters with the plugin share.
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
    /// Unique among the links of its owner.
    pub url: String,
    pub description: Option<String>,
    /// Kept, and not shown to people.
    pub hidden: bool,
}
