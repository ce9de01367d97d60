//! Models that restriction conditions can read.

use serde_json::json;
use stoker_model::{Cluster, Json, JsonMap, Release, SEGMENTATION_DEFAULT};

/// Fuel release that this API is compatible with; its clients query it.
pub const FUEL_VERSION: &str = "10.0";
/// Default network provider.
pub const NET_PROVIDER: &str = "neutron";

/// Models by name, one document each.
pub struct ConditionModels {
    cluster: Json,
    settings: Json,
    release: Json,
    version: Json,
    networking_parameters: Json,
}

impl ConditionModels {
    /// Models of a cluster with these settings, including sections of plugins.
    pub fn of_cluster(cluster: &Cluster, release: &Release, settings: JsonMap) -> Self {
        let segments = cluster.net_segment_type().to_owned();
        let cluster = json!({
            "id": cluster.id.0,
            "name": cluster.name,
            "status": cluster.status.as_str(),
            "mode": cluster.mode,
            "net_provider": cluster.net_provider,
            "net_segment_type": segments,
            "components": cluster.components,
            "fuel_version": FUEL_VERSION,
        });
        Self::new(cluster, &segments, release, settings)
    }

    /// Models of a cluster that is about to be created.
    pub fn of_new_cluster(mode: &str, release: &Release, settings: JsonMap) -> Self {
        let cluster = json!({
            "status": "new",
            "mode": mode,
            "net_provider": NET_PROVIDER,
            "net_segment_type": SEGMENTATION_DEFAULT,
            "components": [],
            "fuel_version": FUEL_VERSION,
        });
        Self::new(cluster, SEGMENTATION_DEFAULT, release, settings)
    }

    fn new(cluster: Json, segments: &str, release: &Release, settings: JsonMap) -> Self {
        let body = &release.body;
        Self {
            cluster,
            settings: Json::Object(settings),
            release: json!({
                "id": release.id.0,
                "name": body.name,
                "version": body.version,
                "operating_system": body.operating_system,
            }),
            version: json!({"release": FUEL_VERSION, "feature_groups": []}),
            networking_parameters: json!({"segmentation_type": segments}),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        match name {
            "cluster" => Some(&self.cluster),
            "settings" => Some(&self.settings),
            "release" => Some(&self.release),
            "version" => Some(&self.version),
            "networking_parameters" => Some(&self.networking_parameters),
            _ => None,
        }
    }
}
