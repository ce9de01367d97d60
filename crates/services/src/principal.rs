//! The caller of a use case, as far as use cases need to know it.

use stoker_model::{Actor, TenantId};

/// On whose behalf a use case runs. The transport has authenticated the caller and checked its permission.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Actor for the audit log.
    pub actor: Actor,
    pub tenants: TenantScope,
}

/// Tenants whose resources a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantScope {
    All,
    Only(TenantId),
}

impl TenantScope {
    pub fn contains(self, tenant_id: TenantId) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == tenant_id,
        }
    }
}
