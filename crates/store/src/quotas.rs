//! Tenant quotas and their usage.

use stoker_model::{Quotas, Resource, Tenant, TenantId};

use crate::sql::Args;
use crate::{Session, StoreError, WriteTransaction};

const TABLE: &str = "tenant_quotas";

impl Session {
    /// Quotas set for this tenant, without server-wide defaults.
    pub async fn quotas_get(&mut self, tenant: TenantId) -> Result<Quotas, StoreError> {
        let sql = format!("SELECT clusters, modules, nodes FROM {TABLE} WHERE tenant_id = $1");
        let row = self.connection.fetch_optional(sql, Args::new().int(tenant.0)).await?;
        let Some(row) = row else { return Ok(Quotas::default()) };
        let mut columns = row.columns(TABLE);
        Ok(Quotas { clusters: columns.opt_int()?, modules: columns.opt_int()?, nodes: columns.opt_int()? })
    }

    /// Number of resources that the tenant uses.
    pub async fn quota_used(&mut self, tenant: TenantId, resource: Resource) -> Result<i64, StoreError> {
        let sql = match resource {
            Resource::Clusters => "SELECT count(*) FROM clusters WHERE tenant_id = $1",
            Resource::Modules => "SELECT count(*) FROM modules WHERE tenant_id = $1",
            Resource::Nodes => {
                "SELECT count(*) FROM nodes n JOIN clusters c ON c.id = n.cluster_id WHERE c.tenant_id = $1"
            }
        };
        let row = self.connection.fetch_optional(sql.to_owned(), Args::new().int(tenant.0)).await?;
        row.map_or(Ok(0), |row| row.columns(TABLE).int())
    }
}

impl WriteTransaction {
    pub async fn quotas_put(&mut self, tenant: TenantId, quotas: &Quotas) -> Result<(), StoreError> {
        self.require::<Tenant>(tenant.0).await?;
        let sql = format!(
            "INSERT INTO {TABLE} (tenant_id, clusters, modules, nodes) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (tenant_id) DO UPDATE SET clusters = excluded.clusters, modules = excluded.modules, \
             nodes = excluded.nodes"
        );
        let args =
            Args::new().int(tenant.0).opt_int(quotas.clusters).opt_int(quotas.modules).opt_int(quotas.nodes);
        self.connection.execute(sql, args).await?;
        Ok(())
    }
}
