//! Operations on roles, shared by releases and clusters.

use serde_json::json;
use stoker_model::{AuditChange, ClusterId, Json, JsonMap, Owner};
use stoker_services::metadata::holder::{RoleOwner, NamedSection, require_unused};
use stoker_services::metadata::sections;

use super::view::{self, RoleView};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::state::App;

pub(super) async fn list(app: &App, login: &Authenticated, owner: Owner) -> ApiResult<ApiResponse<Vec<RoleView>>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let roles = holder.all(NamedSection::Roles);
    Ok(ApiResponse::ok(roles.into_iter().map(|(name, meta)| RoleView::new(&holder, &name, meta)).collect()))
}

pub(super) async fn show(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
) -> ApiResult<ApiResponse<RoleView>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let meta = holder.find_declared(NamedSection::Roles, name)?.clone();
    Ok(ApiResponse::ok(RoleView::new(&holder, name, meta)).version(holder.generation()))
}

pub(super) async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    document: &Document,
) -> ApiResult<ApiResponse<RoleView>> {
    let (name, meta, volumes) = view::read_new(document)?;
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    if holder.all(NamedSection::Roles).contains_key(&name) {
        return Err(ApiError::conflict(format!(
            "Role with name '{name}' already exists for the {}",
            holder.name()
        )));
    }
    require_known_references(&holder, &name, Some(&meta), &volumes)?;
    holder.declared_mut(NamedSection::Roles).insert(name.clone(), Json::Object(meta.clone()));
    holder.set_volumes_of_role(&name, Some(volumes));
    let generation = holder.store(&mut writing).await?;
    writing.commit(describe("role.create", &holder, &name)).await?;
    Ok(ApiResponse::created(RoleView::new(&holder, &name, Json::Object(meta))).version(generation))
}

pub(super) async fn update(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<RoleView>> {
    let update = view::read_change(document)?;
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let old = holder.find_declared(NamedSection::Roles, name)?.clone();
    condition.check(holder.generation())?;
    if update.name.as_deref().is_some_and(|new_name| new_name != name) {
        return Err(ApiError::bad_request(format!("cannot rename role `{name}`")));
    }
    require_known_references(
        &holder,
        name,
        update.meta.as_ref(),
        update.volumes.as_deref().unwrap_or_default(),
    )?;
    let meta = update.meta.map_or(old, Json::Object);
    holder.declared_mut(NamedSection::Roles).insert(name.to_owned(), meta.clone());
    if update.volumes.is_some() {
        holder.set_volumes_of_role(name, update.volumes);
    }
    let generation = holder.store(&mut writing).await?;
    writing.commit(describe("role.update", &holder, name)).await?;
    Ok(ApiResponse::ok(RoleView::new(&holder, name, meta)).version(generation))
}

pub(super) async fn delete(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    holder.find_declared(NamedSection::Roles, name)?;
    condition.check(holder.generation())?;
    let clusters = holder.clusters(&mut writing).await?;
    let clusters: Vec<ClusterId> = clusters.iter().map(|cluster| cluster.id).collect();
    require_unused(&mut writing, &clusters, &[name]).await?;
    holder.declared_mut(NamedSection::Roles).shift_remove(name);
    holder.set_volumes_of_role(name, None);
    holder.store(&mut writing).await?;
    Ok(writing.commit(describe("role.delete", &holder, name)).await?)
}

/// Rejects roles with unknown tags or volumes.
fn require_known_references(
    holder: &RoleOwner,
    name: &str,
    meta: Option<&JsonMap>,
    volumes: &[Json],
) -> ApiResult<()> {
    let mut problems = Vec::new();
    let known_tags = holder.all(NamedSection::Tags);
    let meta = meta.map(|meta| Json::Object(meta.clone())).unwrap_or_default();
    let unknown: Vec<&str> = sections::tags_of(&meta).filter(|tag| !known_tags.contains_key(*tag)).collect();
    if !unknown.is_empty() {
        problems.push(format!("Role '{name}' contains non-existent tags: {}", unknown.join(", ")));
    }
    let allowed_volumes = holder.volume_ids();
    let ids = volumes.iter().filter_map(|volume| volume.get("id")?.as_str());
    let unknown: Vec<&str> = ids.filter(|id| !allowed_volumes.contains(id)).collect();
    if !unknown.is_empty() {
        problems.push(format!(
            "Wrong data in volumes_roles_mapping. Volumes with ids {} are not in the list of allowed volumes: {}",
            unknown.join(", "),
            if allowed_volumes.is_empty() { "there are none".to_owned() } else { allowed_volumes.join(", ") }
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(ApiError::bad_request(problems.join("\n"))) }
}

fn describe(action: &'static str, holder: &RoleOwner, name: &str) -> AuditChange {
    AuditChange { action, target: holder.name(), detail: json!({"role": name}) }
}
