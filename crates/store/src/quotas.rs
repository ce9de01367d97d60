//! Tenant quotas and their usage.

use stoker_model::{Quotas, Resource, Tenant, TenantId};

use crate::sql::{Args, Values, record};
use crate::{Session, StoreError, WriteTransaction};

record! {
    Quotas in "tenant_quotas", "quota" { clusters, modules, nodes }
}

impl Session {
    /// Quotas set for this tenant, without server-wide defaults.
    pub async fn quotas_get(&mut self, tenant: TenantId) -> Result<Quotas, StoreError> {
        let quotas = self.get_where("tenant_id = $1", Args::new().int(tenant.0)).await?;
        Ok(quotas.unwrap_or_default())
    }

    /// Returns the number of resources that the tenant uses.
    pub async fn quota_used(&mut self, tenant: TenantId, resource: Resource) -> Result<i64, StoreError> {
        let sql = match resource {
            Resource::Clusters => "SELECT count(*) AS n FROM clusters WHERE tenant_id = $1",
            Resource::Modules => "SELECT count(*) AS n FROM modules WHERE tenant_id = $1",
            Resource::Nodes => {
                "SELECT count(*) AS n FROM nodes m JOIN clusters c ON c.id = m.cluster_id WHERE c.tenant_id = $1"
            }
        };
        self.number(sql.to_owned(), Args::new().int(tenant.0)).await
    }
}

impl WriteTransaction {
    pub async fn quotas_put(&mut self, tenant: TenantId, quotas: &Quotas) -> Result<(), StoreError> {
        self.require::<Tenant>(tenant.0).await?;
        let values = Values::of(quotas).set("tenant_id", &tenant);
        let replace = "ON CONFLICT (tenant_id) DO UPDATE SET clusters = excluded.clusters, \
                       modules = excluded.modules, nodes = excluded.nodes";
        self.connection.insert("tenant_quotas", values, replace).await?;
        Ok(())
    }
}
