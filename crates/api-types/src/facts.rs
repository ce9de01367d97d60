//! Request and response types for facts of nodes.

use serde::{Deserialize, Serialize};
use stoker_model::JsonMap;
use utoipa::ToSchema;

/// Facts with which nodes are provisioned.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ProvisioningFacts {
    /// Address and parameters of the provisioning engine; empty unless uploaded.
    #[schema(value_type = Object)]
    pub engine: JsonMap,
    /// Documents of the nodes, each with the `uid` of its node.
    #[schema(value_type = Vec<Object>)]
    pub nodes: Vec<JsonMap>,
}
