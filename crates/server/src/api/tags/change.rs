//! Operations on tags, shared by releases and clusters.

use std::collections::BTreeSet;

use serde_json::json;
use stoker_model::{AuditChange, Json, JsonMap, Owner};
use stoker_services::metadata::holder::{RoleOwner, NamedSection};
use stoker_services::metadata::sections;
use stoker_store::Session;

use super::view::{self, TagView};
use crate::access::caller::Authenticated;
use crate::http::response::ApiResponse;
use crate::http::body::Document;
use crate::http::error::{ApiError, ApiResult};
use crate::http::etag::IfMatch;
use crate::state::App;

pub(super) async fn list(app: &App, login: &Authenticated, owner: Owner) -> ApiResult<ApiResponse<Vec<TagView>>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let tags = holder.all(NamedSection::Tags).into_iter();
    Ok(ApiResponse::ok(tags.map(|(name, meta)| TagView { name, meta }).collect()))
}

pub(super) async fn show(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
) -> ApiResult<ApiResponse<TagView>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let meta = holder.find_declared(NamedSection::Tags, name)?.clone();
    Ok(ApiResponse::ok(TagView { name: name.to_owned(), meta }).version(holder.generation()))
}

pub(super) async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    document: &Document,
) -> ApiResult<ApiResponse<TagView>> {
    let (name, meta) = view::read_new(document)?;
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    if holder.all(NamedSection::Tags).contains_key(&name) {
        return Err(ApiError::conflict(format!(
            "Tag with name '{name}' already exists for the {}",
            holder.name()
        )));
    }
    let meta = Json::Object(meta);
    holder.declared_mut(NamedSection::Tags).insert(name.clone(), meta.clone());
    let generation = holder.store(&mut writing).await?;
    writing.commit(describe("tag.create", &holder, &name)).await?;
    Ok(ApiResponse::created(TagView { name, meta }).version(generation))
}

pub(super) async fn update(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<TagView>> {
    let (new_name, new_meta) = view::read_change(document)?;
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let old = holder.find_declared(NamedSection::Tags, name)?.clone();
    condition.check(holder.generation())?;
    if new_name.is_some_and(|new_name| new_name != name) {
        return Err(ApiError::bad_request(format!("cannot rename tag `{name}`")));
    }
    let meta = new_meta.map_or(old, Json::Object);
    holder.declared_mut(NamedSection::Tags).insert(name.to_owned(), meta.clone());
    let generation = holder.store(&mut writing).await?;
    writing.commit(describe("tag.update", &holder, name)).await?;
    Ok(ApiResponse::ok(TagView { name: name.to_owned(), meta }).version(generation))
}

pub(super) async fn delete(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let mut holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    holder.find_declared(NamedSection::Tags, name)?;
    condition.check(holder.generation())?;
    let roles = roles_with(&mut writing, &holder, name).await?;
    if !roles.is_empty() {
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        return Err(ApiError::bad_request(format!(
            "Tag '{name}' is in use by the roles {}",
            roles.join(", ")
        )));
    }
    holder.declared_mut(NamedSection::Tags).shift_remove(name);
    holder.store(&mut writing).await?;
    Ok(writing.commit(describe("tag.delete", &holder, name)).await?)
}

/// Returns the roles that assign this tag: those of its owner and, for a release, those of its clusters.
async fn roles_with(session: &mut Session, holder: &RoleOwner, tag: &str) -> ApiResult<BTreeSet<String>> {
    let mut roles = with_tag(holder.declared(NamedSection::Roles), tag);
    for cluster in holder.clusters(session).await? {
        roles.extend(with_tag(&cluster.roles_metadata, tag));
    }
    Ok(roles)
}

fn with_tag(roles: &JsonMap, tag: &str) -> BTreeSet<String> {
    let matching = roles.iter().filter(|(_, meta)| sections::tags_of(meta).any(|role_tag| role_tag == tag));
    matching.map(|(role, _)| role.clone()).collect()
}

fn describe(action: &'static str, holder: &RoleOwner, name: &str) -> AuditChange {
    AuditChange { action, target: holder.name(), detail: json!({"tag": name}) }
}
