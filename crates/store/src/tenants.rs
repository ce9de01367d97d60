//! Tenants: owners of clusters and users.

use stoker_model::{NewTenant, Tenant, TenantId};

use crate::sql::{Args, Columns, Record, Table, is_key};
use crate::{List, Page, Session, StoreError, WriteTransaction};

const TAKEN: StoreError = StoreError::AlreadyExists { what: "tenant name" };

impl Record for Tenant {
    const TABLE: Table = Table {
        name: "tenants",
        noun: "tenant",
        columns: &["name", "description", "enabled", "created_at"],
        orders: &["id", "name", "description", "enabled", "created_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: TenantId(columns.int()?),
            generation: columns.int()?,
            name: columns.text()?,
            description: columns.opt_text()?,
            enabled: columns.bool()?,
            created_at: columns.time()?,
        })
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
        let created_at = self.now();
        let args = Args::new().key(&new.name).opt_text(new.description.as_deref()).bool(new.enabled);
        let id = self.insert::<Tenant>("(name)", args.int(created_at.0)).await?.ok_or(TAKEN)?;
        Ok(Tenant {
            id: TenantId(id),
            generation: 1,
            name: new.name.clone(),
            description: new.description.clone(),
            enabled: new.enabled,
            created_at,
        })
    }

    pub async fn tenant_update(&mut self, tenant: &Tenant) -> Result<Tenant, StoreError> {
        let others = "SELECT 1 FROM tenants WHERE name = $1 AND id <> $2".to_owned();
        if self.exists(others, Args::new().key(&tenant.name).int(tenant.id.0)).await? {
            return Err(TAKEN);
        }
        let args = Args::new()
            .key(&tenant.name)
            .opt_text(tenant.description.as_deref())
            .bool(tenant.enabled)
            .int(tenant.created_at.0);
        let generation = self.replace::<Tenant>(tenant.id.0, tenant.generation, args).await?;
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
