//! Operations on roles, shared by releases and clusters.

use stoker_api_types::roles::RoleView;
use stoker_model::Owner;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::metadata::named::{StoredEntry, role_create, role_delete, role_update};

use super::view::{self, render_role};
use crate::access::caller::Authenticated;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::http::response::ApiResponse;
use crate::state::App;

pub(super) async fn list(
    app: &App,
    login: &Authenticated,
    owner: Owner,
) -> ApiResult<ApiResponse<Vec<RoleView>>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let roles = holder.all(NamedSection::Roles);
    Ok(ApiResponse::ok(roles.into_iter().map(|(name, meta)| render_role(&holder, &name, meta)).collect()))
}

pub(super) async fn show(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
) -> ApiResult<ApiResponse<RoleView>> {
    let holder = RoleOwner::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let meta = holder.find_declared(NamedSection::Roles, name)?.clone();
    Ok(ApiResponse::ok(render_role(&holder, name, meta)).version(holder.generation()))
}

pub(super) async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    document: &Document,
) -> ApiResult<ApiResponse<RoleView>> {
    let (name, meta, volumes) = view::read_new(document)?;
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { holder, meta, generation } = role_create(writing, holder, &name, meta, volumes).await?;
    Ok(ApiResponse::created(render_role(&holder, &name, meta)).version(generation))
}

pub(super) async fn update(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<RoleView>> {
    let update = view::read_change(document)?;
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { holder, meta, generation } =
        role_update(writing, holder, name, condition, update).await?;
    Ok(ApiResponse::ok(render_role(&holder, name, meta)).version(generation))
}

pub(super) async fn delete(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
    condition: &IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    Ok(role_delete(writing, holder, name, condition).await?)
}
