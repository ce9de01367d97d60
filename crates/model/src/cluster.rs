//! A cluster: nodes deployed together from one release.

use crate::{ClusterId, JsonMap, Micros, PluginId, ReleaseId, TenantId, words};

/// Deployment modes of clusters.
pub const CLUSTER_MODES: &[&str] = &["ha_compact", "ha_full", "multinode"];

words! {
    ClusterStatus {
        New => "new",
        Deployment => "deployment",
        Stopped => "stopped",
        Operational => "operational",
        Error => "error",
        Remove => "remove",
        PartiallyDeployed => "partially_deployed",
    }
}

words! {
    /// Precedence of layers in a merge, weakest first.
    #[derive(Default)]
    MergeOrder {
        #[default]
        ReleaseClusterPlugins => "release,cluster,plugins",
        ReleasePluginsCluster => "release,plugins,cluster",
    }
}

words! {
    /// Merge mode: what a layer of higher precedence overrides.
    #[derive(Default)]
    MergeMode {
        /// A later layer replaces only the attributes that it sets.
        #[default]
        Attributes => "attributes",
        /// A later layer replaces the whole task.
        Replace => "replace",
    }
}

words! {
    /// Kinds of documents that a user can supply instead of computed ones.
    FactsKind {
        Deployment => "deployment",
        Provisioning => "provisioning",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    pub id: ClusterId,
    pub generation: i64,
    pub tenant_id: TenantId,
    pub release_id: ReleaseId,
    pub name: String,
    pub status: ClusterStatus,
    pub mode: String,
    pub net_provider: String,
    /// Network segmentation; `None` follows from the network component.
    pub net_segment_type: Option<String>,
    /// Names of the components chosen in the wizard.
    pub components: Vec<String>,
    pub ui_settings: JsonMap,
    /// Roles and tags defined by the cluster itself, name to metadata.
    pub roles_metadata: JsonMap,
    pub tags_metadata: JsonMap,
    /// Role to the list of volumes it uses.
    pub volumes_roles_mapping: JsonMap,
    /// Settings an operator may change, and values generated once.
    pub editable: JsonMap,
    pub generated: JsonMap,
    pub extensions: Vec<String>,
    /// Whether a user supplied facts.
    pub is_customized: bool,
    pub is_locked: bool,
    /// Merge order of graph layers; `None` means the default of the server.
    pub merge_order: Option<MergeOrder>,
    pub merge_mode: Option<MergeMode>,
    pub created_at: Micros,
}

/// Default network segmentation.
pub const SEGMENTATION_DEFAULT: &str = "vlan";
const SEGMENTATIONS: &[&str] = &[SEGMENTATION_DEFAULT, "gre", "tun"];

impl Cluster {
    /// Returns the network segmentation: the stored one, or that of the network component.
    pub fn net_segment_type(&self) -> &str {
        let networks = self.components.iter().filter(|name| name.starts_with("network:"));
        let mut last_segments = networks.filter_map(|name| name.rsplit(':').next());
        let of_components = || last_segments.find(|name| SEGMENTATIONS.contains(name));
        self.net_segment_type.as_deref().or_else(of_components).unwrap_or(SEGMENTATION_DEFAULT)
    }
}

/// A cluster before it has an id.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCluster {
    pub tenant_id: TenantId,
    pub release_id: ReleaseId,
    pub name: String,
    pub mode: String,
    pub net_provider: String,
    /// Network segmentation; `None` follows from the network component.
    pub net_segment_type: Option<String>,
    pub components: Vec<String>,
    pub editable: JsonMap,
    pub generated: JsonMap,
    pub merge_order: Option<MergeOrder>,
    pub merge_mode: Option<MergeMode>,
}

/// State and settings of a plugin in one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPlugin {
    pub plugin_id: PluginId,
    pub enabled: bool,
    /// Settings of the plugin in this cluster.
    pub attributes: JsonMap,
}
