//! Request and response types for tenants and their quotas.

use serde::{Deserialize, Serialize};
use stoker_manifest::reader::{FieldUpdate, boolean, integer_in, string_with_length};
use utoipa::ToSchema;

use crate::request::request;

const QUOTA_MAX: i64 = 1_000_000_000;

/// Owner of clusters, nodes and modules.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Tenant)]
pub struct TenantView {
    /// ID of the tenant.
    #[schema(example = 2)]
    pub id: i64,
    /// Name of the tenant.
    #[schema(example = "blue")]
    pub name: String,
    /// Human-readable description.
    pub description: Option<String>,
    /// Whether users of the tenant can log in.
    pub enabled: bool,
    /// Creation time.
    pub created_at: String,
}

/// Quotas and usage of a tenant.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Quotas)]
pub struct QuotasView {
    /// Quota of clusters.
    pub clusters: QuotaView,
    /// Quota of modules.
    pub modules: QuotaView,
    /// Quota of nodes.
    pub nodes: QuotaView,
}

/// Quota and usage of one kind of resource.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Quota)]
pub struct QuotaView {
    /// Maximum number; null for no limit.
    #[schema(example = 20)]
    pub limit: Option<i64>,
    /// Whether the quota is specific to this tenant; otherwise it is the server-wide default.
    pub is_own: bool,
    /// Current number.
    pub used: i64,
}

request! {
    /// Tenant. An update leaves omitted fields unchanged.
    pub struct TenantBody {
        /// Name of the tenant, unique.
        #[schema(example = "blue", min_length = 1, max_length = 255, value_type = String)]
        name: Option<String> = optional(string_with_length(1..=255)),
        /// Human-readable description.
        #[schema(value_type = Option<String>)]
        description: FieldUpdate<String> = update(string_with_length(0..=4096)),
        /// Whether users of the tenant can log in.
        #[schema(default = true)]
        enabled: Option<bool> = optional(boolean),
    }
}

request! {
    /// Quotas of a tenant. Omitted ones are unchanged; null restores the default.
    #[schema(as = QuotasChange)]
    pub struct QuotasBody {
        /// Maximum number of clusters.
        #[schema(example = 20, minimum = 0, value_type = Option<i64>)]
        clusters: FieldUpdate<i64> = update(integer_in(0..=QUOTA_MAX)),
        /// Maximum number of modules.
        #[schema(minimum = 0, value_type = Option<i64>)]
        modules: FieldUpdate<i64> = update(integer_in(0..=QUOTA_MAX)),
        /// Maximum number of nodes.
        #[schema(minimum = 0, value_type = Option<i64>)]
        nodes: FieldUpdate<i64> = update(integer_in(0..=QUOTA_MAX)),
    }
}
