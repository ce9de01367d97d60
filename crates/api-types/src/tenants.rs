//! Tenants.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    /// Whether the quota is set for this tenant, or is the default.
    pub is_own: bool,
    /// Current number.
    pub used: i64,
}
