//! Modules, their encrypted contents, and their state on nodes. Contents are encrypted before they reach the
//! store.

mod on_nodes;
mod runs;
mod sealed;

use stoker_model::{EncryptedContents, Module, ModuleBody, ModuleId, TenantId};

pub use self::sealed::EncryptedLocation;
use crate::sql::{Args, Values, is_key, record};
use crate::{List, Session, StoreError, WriteTransaction};

/// Filter for modules; a field that is `None` matches all modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleFilter {
    /// Visible modules of this tenant, and visible modules shared by all tenants.
    pub visible_to: Option<TenantId>,
    /// Modules that are applied automatically to nodes of this tenant.
    pub automatic_for: Option<TenantId>,
    pub uuids: Option<Vec<String>>,
    /// `Some(None)` selects modules that are not bound to a datastore.
    pub datastore: Option<Option<String>>,
}

// Shared by several tables.
record! {
    ModuleBody {
        name [key sort],
        module_type [key sort],
        description,
        tenant_id,
        datastore,
        datastore_version,
        auto_apply,
        visible,
        live_update,
        priority_apply,
        apply_order,
        is_admin,
        md5,
    }
}

record! {
    Module in "modules", "module" {
        id [auto sort], generation [auto], uuid [key], body: ModuleBody, created_at [sort], updated_at [sort],
    }
}

// Contents of a module, in the table of modules, of applied modules and of module runs.
record! {
    EncryptedContents in "module_contents", "module" { key as "key_name", bytes as "contents" }
}

impl Session {
    /// Returns the modules in creation order.
    pub async fn module_list(&mut self, filter: &ModuleFilter) -> Result<Vec<Module>, StoreError> {
        let mut select = self.select();
        if let Some(tenant_id) = filter.visible_to {
            let condition = "visible AND (tenant_id IS NULL OR tenant_id = ?)";
            select = select.and(condition, |args| args.int(tenant_id.0));
        }
        if let Some(tenant_id) = filter.automatic_for {
            let condition = "auto_apply AND (tenant_id IS NULL OR tenant_id = ?)";
            select = select.and(condition, |args| args.int(tenant_id.0));
        }
        if let Some(uuids) = &filter.uuids {
            select = select.and_texts("uuid", uuids.iter().map(String::as_str));
        }
        match &filter.datastore {
            None => {}
            Some(None) => select = select.and_optional("datastore", Some(None)),
            Some(Some(name)) if is_key(name) => select = select.and("datastore = ?", |args| args.text(name)),
            Some(Some(_)) => return Ok(Vec::new()),
        }
        Ok(self.list(select, &List::default()).await?.items)
    }

    pub async fn module_by_uuid(&mut self, uuid: &str) -> Result<Option<Module>, StoreError> {
        if !is_key(uuid) {
            return Ok(None);
        }
        self.get_where("uuid = $1", Args::new().key(uuid)).await
    }

    /// Returns the encrypted contents of an existing module.
    pub async fn module_contents(&mut self, id: ModuleId) -> Result<EncryptedContents, StoreError> {
        let contents = self.get_where("module_id = $1", Args::new().int(id.0)).await?;
        contents.ok_or(StoreError::NotFound { what: "module" })
    }
}

impl WriteTransaction {
    pub async fn module_create(
        &mut self,
        uuid: &str,
        body: &ModuleBody,
        contents: &EncryptedContents,
    ) -> Result<Module, StoreError> {
        let now = self.now();
        let mut module = Module {
            id: ModuleId(0),
            generation: 1,
            uuid: uuid.to_owned(),
            body: body.clone(),
            created_at: now,
            updated_at: now,
        };
        if let Some(tenant_id) = body.tenant_id {
            self.require::<stoker_model::Tenant>(tenant_id.0).await?;
        }
        let conflict = StoreError::AlreadyExists { what: "module" };
        module.id = ModuleId(self.insert::<Module>("", Values::of(&module)).await?.ok_or(conflict)?);
        self.module_contents_put(module.id, contents).await?;
        Ok(module)
    }

    /// Overwrites a module and, if given, its contents.
    pub async fn module_update(
        &mut self,
        module: &Module,
        contents: Option<&EncryptedContents>,
    ) -> Result<Module, StoreError> {
        let body = &module.body;
        let duplicate = "SELECT 1 FROM modules WHERE name = $1 AND module_type = $2 AND coalesce(tenant_id, 0) = $3 \
                    AND coalesce(datastore, '') = $4 AND coalesce(datastore_version, '') = $5 AND id <> $6";
        let key = Args::new()
            .key(&body.name)
            .key(&body.module_type)
            .int(body.tenant_id.map_or(0, |id| id.0))
            .text(body.datastore.as_deref().unwrap_or_default())
            .text(body.datastore_version.as_deref().unwrap_or_default())
            .int(module.id.0);
        if self.exists(duplicate.to_owned(), key).await? {
            return Err(StoreError::AlreadyExists { what: "module" });
        }
        let mut module = Module { updated_at: self.now(), ..module.clone() };
        module.generation = self.replace(module.id.0, module.generation, &module).await?;
        if let Some(contents) = contents {
            self.module_contents_put(module.id, contents).await?;
        }
        Ok(module)
    }

    /// Returns whether the module existed. Nodes keep their copy of it.
    pub async fn module_delete(&mut self, id: ModuleId) -> Result<bool, StoreError> {
        self.delete::<Module>(id.0).await
    }

    async fn module_contents_put(
        &mut self,
        id: ModuleId,
        contents: &EncryptedContents,
    ) -> Result<(), StoreError> {
        let values = Values::of(contents).set("module_id", &id);
        let replace = "ON CONFLICT (module_id) DO UPDATE SET key_name = excluded.key_name, contents = excluded.contents";
        self.connection.insert("module_contents", values, replace).await?;
        Ok(())
    }
}
