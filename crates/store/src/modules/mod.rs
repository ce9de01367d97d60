//! Modules, their encrypted contents, and their state on nodes. Contents are encrypted before they reach the
//! store.

mod on_nodes;
mod runs;
mod sealed;

use stoker_model::{EncryptedContents, Module, ModuleBody, ModuleId, TenantId};

pub use self::sealed::EncryptedLocation;
use crate::sql::{Args, Columns, Record, Table, is_key};
use crate::{List, Session, StoreError, WriteTransaction};

/// Filter for modules; a field that is `None` matches everything.
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

/// Module columns shared by several tables, in the order in which they are written and read.
const BODY: &str = "name, module_type, description, tenant_id, datastore, datastore_version, auto_apply, visible, \
    live_update, priority_apply, apply_order, is_admin, md5";

fn body_args(args: Args, body: &ModuleBody) -> Args {
    args.key(&body.name)
        .key(&body.module_type)
        .opt_text(body.description.as_deref())
        .opt_int(body.tenant_id.map(|id| id.0))
        .opt_text(body.datastore.as_deref())
        .opt_text(body.datastore_version.as_deref())
        .bool(body.auto_apply)
        .bool(body.visible)
        .bool(body.live_update)
        .bool(body.priority_apply)
        .int(body.apply_order)
        .bool(body.is_admin)
        .text(&body.md5)
}

fn read_body(columns: &mut Columns<'_>) -> Result<ModuleBody, StoreError> {
    Ok(ModuleBody {
        name: columns.text()?,
        module_type: columns.text()?,
        description: columns.opt_text()?,
        tenant_id: columns.opt_int()?.map(TenantId),
        datastore: columns.opt_text()?,
        datastore_version: columns.opt_text()?,
        auto_apply: columns.bool()?,
        visible: columns.bool()?,
        live_update: columns.bool()?,
        priority_apply: columns.bool()?,
        apply_order: columns.int()?,
        is_admin: columns.bool()?,
        md5: columns.text()?,
    })
}

fn read_sealed(columns: &mut Columns<'_>) -> Result<EncryptedContents, StoreError> {
    Ok(EncryptedContents { key: columns.text()?, bytes: columns.bytes()? })
}

impl Record for Module {
    const TABLE: Table = Table {
        name: "modules",
        noun: "module",
        columns: &[
            "uuid",
            "name",
            "module_type",
            "description",
            "tenant_id",
            "datastore",
            "datastore_version",
            "auto_apply",
            "visible",
            "live_update",
            "priority_apply",
            "apply_order",
            "is_admin",
            "md5",
            "created_at",
            "updated_at",
        ],
        orders: &["id", "name", "module_type", "created_at", "updated_at"],
    };

    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: ModuleId(columns.int()?),
            generation: columns.int()?,
            uuid: columns.text()?,
            body: read_body(columns)?,
            created_at: columns.time()?,
            updated_at: columns.time()?,
        })
    }
}

fn args(module: &Module) -> Args {
    body_args(Args::new().key(&module.uuid), &module.body).int(module.created_at.0).int(module.updated_at.0)
}

impl Session {
    /// Modules in creation order.
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

    /// Encrypted contents of an existing module.
    pub async fn module_contents(&mut self, id: ModuleId) -> Result<EncryptedContents, StoreError> {
        let sql = "SELECT key_name, contents FROM module_contents WHERE module_id = $1".to_owned();
        let row = self.connection.fetch_optional(sql, Args::new().int(id.0)).await?;
        let row = row.ok_or(StoreError::NotFound { what: "module" })?;
        read_sealed(&mut row.columns("module_contents"))
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
        let taken = StoreError::AlreadyExists { what: "module" };
        module.id = ModuleId(self.insert::<Module>("", args(&module)).await?.ok_or(taken)?);
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
        module.generation = self.replace::<Module>(module.id.0, module.generation, args(&module)).await?;
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
        let sql = "INSERT INTO module_contents (module_id, key_name, contents) VALUES ($1, $2, $3) \
                   ON CONFLICT (module_id) DO UPDATE SET key_name = excluded.key_name, contents = excluded.contents";
        let args = Args::new().int(id.0).text(&contents.key).bytes(&contents.bytes);
        self.connection.execute(sql.to_owned(), args).await?;
        Ok(())
    }
}
