//! Creation, update and deletion of modules, and the datastores that they name.

use serde_json::json;
use stoker_model::{AuditChange, Module, ModuleBody, Release, Resource, compare_release_versions};
use stoker_modules::rules::{self, RuleContext};
use stoker_modules::{CreateRequest, Datastores, Requester, RuleViolation, UpdateRequest};
use stoker_settings::Server;
use stoker_store::{List, Session, StoreError, WriteTransaction};

use super::error::{ModuleError, ModuleResult};
use super::keys::ModuleKeys;
use crate::quotas::check_quota;
use crate::random;

/// Maximum size of the Base64-encoded contents. Modules carry licences and settings, not disk images.
pub const CONTENTS_BYTES_MAX: usize = 4 << 20;

/// Finds a module that the caller may see.
pub async fn module_find(session: &mut Session, who: Requester, id: &str) -> ModuleResult<Module> {
    let module = session.module_by_uuid(id).await?;
    Ok(module
        .filter(|module| rules::can_see(who, &module.body))
        .ok_or_else(|| RuleViolation::module_not_found(id))?)
}

/// Creates a module. Its contents are encrypted before they are stored.
pub async fn module_create(
    settings: &Server,
    keys: &ModuleKeys,
    mut writing: WriteTransaction,
    who: Requester,
    create: &CreateRequest,
) -> ModuleResult<Module> {
    require_size(&create.contents)?;
    let datastores = datastores(&mut writing).await?;
    let types = types(settings);
    let body = rules::create(create, RuleContext { who, types: &types, datastores: &datastores })?;
    let sealed = keys.seal(&create.contents)?;
    let created = writing.module_create(&random::uuid()?, &body, &sealed).await;
    let module = created.map_err(|error| duplicate_error(error, &body))?;
    if let Some(tenant) = module.body.tenant_id {
        let quota = check_quota(settings.limits.quotas, &mut writing, tenant, Resource::Modules).await;
        quota.map_err(ModuleError::over_quota)?;
    }
    writing.commit(describe("module.create", &module)).await?;
    Ok(module)
}

/// Updates a module that was read in the same transaction.
pub async fn module_update(
    settings: &Server,
    keys: &ModuleKeys,
    mut writing: WriteTransaction,
    who: Requester,
    module: Module,
    update: &UpdateRequest,
) -> ModuleResult<Module> {
    if let Some(contents) = &update.contents {
        require_size(contents)?;
    }
    let is_applied = is_applied(&mut writing, &module).await?;
    let datastores = datastores(&mut writing).await?;
    let types = types(settings);
    let surroundings = RuleContext { who, types: &types, datastores: &datastores };
    let body = rules::update(&module, update, is_applied, surroundings)?;
    let sealed = update.contents.as_ref().map(|contents| keys.seal(contents)).transpose()?;
    let changed = Module { body, ..module };
    let updated = writing.module_update(&changed, sealed.as_ref()).await;
    let module = updated.map_err(|error| match error {
        StoreError::Stale { .. } => {
            ModuleError::unprocessable("the module was changed concurrently; retry the request")
        }
        error => duplicate_error(error, &changed.body),
    })?;
    writing.commit(describe("module.update", &module)).await?;
    Ok(module)
}

/// Deletes a module that was read in the same transaction. It is not removed from instances.
pub async fn module_delete(
    mut writing: WriteTransaction,
    who: Requester,
    module: &Module,
) -> ModuleResult<()> {
    let is_applied = is_applied(&mut writing, module).await?;
    rules::delete(module, is_applied, who)?;
    writing.module_delete(module.id).await?;
    Ok(writing.commit(describe("module.delete", module)).await?)
}

/// Rejects contents before they are encrypted.
fn require_size(contents: &str) -> ModuleResult<()> {
    if contents.len() > CONTENTS_BYTES_MAX {
        return Err(ModuleError::TooLarge { what: "contents are", bytes_max: CONTENTS_BYTES_MAX });
    }
    Ok(())
}

fn duplicate_error(error: StoreError, body: &ModuleBody) -> ModuleError {
    match error {
        StoreError::AlreadyExists { what: "module" } => rules::duplicate_error(body).into(),
        error => error.into(),
    }
}

/// Reports whether any instance has the module with its current contents.
async fn is_applied(session: &mut Session, module: &Module) -> Result<bool, StoreError> {
    let carriers = session.module_nodes(&module.uuid).await?;
    Ok(carriers.iter().any(|carrier| carrier.body.md5 == module.body.md5))
}

/// Returns the names and versions of all datastores.
pub async fn datastores(session: &mut Session) -> Result<Datastores, StoreError> {
    let releases = session.release_list(&List::default()).await?.items;
    Ok(Datastores(releases.into_iter().map(|release| (release.body.name, release.body.version)).collect()))
}

/// All releases of one name, newest version first.
pub struct Datastore {
    pub name: String,
    pub releases: Vec<Release>,
}

/// Returns the datastores with their releases, in the order of their first release.
pub async fn datastore_list(session: &mut Session) -> Result<Vec<Datastore>, StoreError> {
    let mut datastores: Vec<Datastore> = Vec::new();
    for release in session.release_list(&List::default()).await?.items {
        match datastores.iter_mut().find(|datastore| datastore.name == release.body.name) {
            Some(datastore) => datastore.releases.push(release),
            None => datastores.push(Datastore { name: release.body.name.clone(), releases: vec![release] }),
        }
    }
    for datastore in &mut datastores {
        datastore
            .releases
            .sort_by(|one, other| compare_release_versions(&other.body.version, &one.body.version));
    }
    Ok(datastores)
}

/// Returns the module types that the configuration permits.
fn types(settings: &Server) -> Vec<&'static str> {
    let drivers = stoker_tasks::MODULE_DRIVERS.iter().map(|driver| driver.name);
    match &settings.modules.types {
        None => drivers.collect(),
        Some(allowed) => drivers.filter(|name| allowed.iter().any(|allowed| allowed == name)).collect(),
    }
}

/// Builds the audit record. Contents are omitted: they may be secret.
pub(super) fn describe(action: &'static str, module: &Module) -> AuditChange {
    let detail = json!({
        "name": module.body.name, "type": module.body.module_type, "md5": module.body.md5,
        "tenant_id": module.body.tenant_id.map(|id| id.0), "is_admin": module.body.is_admin,
    });
    AuditChange { action, target: format!("module {}", module.uuid), detail }
}
