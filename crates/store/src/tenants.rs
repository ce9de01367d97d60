//! Tenants: owners of clusters and users.

use stoker_model::{NewTenant, Tenant, TenantId};

use crate::sql::{Args, Values, is_key, record};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const DUPLICATE: StoreError = StoreError::AlreadyExists { what: "tenant name" };

record! {
    Tenant in "tenants", "tenant" {
        id [auto sort], generation [auto], name [key sort], description [sort], enabled [sort], created_at [sort],
    }
}

impl Session {
    pub async fn tenant_list(&mut self, list: &List) -> Result<Page<Tenant>, StoreError> {
        self.list(self.select(), list).await
    }

    pub async fn tenant_get(&mut self, id: TenantId) -> Result<Option<Tenant>, StoreError> {
        self.get(id.0).await
    }

    pub async fn tenant_by_name(&mut self, name: &str) -> Result<Option<Tenant>, StoreError> {
        if !is_key(name) {
            return Ok(None);
        }
        self.get_where("name = $1", Args::new().key(name)).await
    }
}

impl WriteTransaction {
    pub async fn tenant_create(&mut self, new: &NewTenant) -> Result<Tenant, StoreError> {
        let mut tenant = Tenant {
            id: TenantId(0),
            generation: 1,
            name: new.name.clone(),
            description: new.description.clone(),
            enabled: new.enabled,
            created_at: self.now(),
        };
        tenant.id = TenantId(self.insert::<Tenant>("(name)", Values::of(&tenant)).await?.ok_or(DUPLICATE)?);
        Ok(tenant)
    }

    pub async fn tenant_update(&mut self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        let others = "SELECT 1 FROM tenants WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&tenant.name).int(tenant.id.0)).await? {
            return Err(DUPLICATE);
        }
        let generation = self.replace(tenant.id.0, tenant.generation, tenant).await?;
        Ok(Tenant { generation, ..tenant.clone() })
    }

    /// Deletes a tenant. Fails with [`StoreError::Referenced`] if it has users, clusters or modules. Returns
    /// whether the tenant existed.
    pub async fn tenant_delete(&mut self, id: TenantId) -> Result<bool, StoreError> {
        if !self.hold::<Tenant>(id.0).await? {
            return Ok(false);
        }
        for (sql, what) in [
            ("SELECT 1 FROM users WHERE tenant_id = $1 LIMIT 1", "user"),
            ("SELECT 1 FROM clusters WHERE tenant_id = $1 LIMIT 1", "cluster"),
            ("SELECT 1 FROM modules WHERE tenant_id = $1 LIMIT 1", "module"),
        ] {
            if self.exists(sql.to_owned(), Args::new().int(id.0)).await? {
                return Err(StoreError::Referenced { what });
            }
        }
        self.delete::<Tenant>(id.0).await
    }
}
