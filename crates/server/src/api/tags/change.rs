//! Operations on tags, shared by releases and clusters.

use stoker_api_types::tags::TagView;
use stoker_model::Owner;
use stoker_services::metadata::holder::{NamedSection, RoleOwner};
use stoker_services::metadata::named::{StoredEntry, tag_create, tag_delete, tag_update};

use super::view;
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
) -> ApiResult<ApiResponse<Vec<TagView>>> {
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
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { meta, generation, .. } = tag_create(writing, holder, &name, meta).await?;
    Ok(ApiResponse::created(TagView { name, meta }).version(generation))
}

pub(super) async fn update(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<ApiResponse<TagView>> {
    let (new_name, new_meta) = view::read_change(document)?;
    let mut writing = app.change(login).await?;
    let holder = RoleOwner::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { meta, generation, .. } =
        tag_update(writing, holder, name, condition, new_name, new_meta).await?;
    Ok(ApiResponse::ok(TagView { name: name.to_owned(), meta }).version(generation))
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
    Ok(tag_delete(writing, holder, name, condition).await?)
}
