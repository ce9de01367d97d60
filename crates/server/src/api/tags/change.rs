//! Operations on tags, shared by releases and clusters.

use stoker_model::Owner;
use stoker_services::metadata::holder::{Holder, NamedSection};
use stoker_services::metadata::named::{StoredEntry, tag_create, tag_delete, tag_update};

use super::view::{self, TagView};
use crate::access::caller::Authenticated;
use crate::http::answer::Answer;
use crate::http::body::Document;
use crate::http::error::ApiResult;
use crate::http::etag::IfMatch;
use crate::state::App;

pub(super) async fn list(app: &App, login: &Authenticated, owner: Owner) -> ApiResult<Answer<Vec<TagView>>> {
    let holder = Holder::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let tags = holder.all(NamedSection::Tags).into_iter();
    Ok(Answer::ok(tags.map(|(name, meta)| TagView { name, meta }).collect()))
}

pub(super) async fn show(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    name: &str,
) -> ApiResult<Answer<TagView>> {
    let holder = Holder::find(&mut app.store.snapshot().await?, login.tenant_limit(), owner).await?;
    let meta = holder.find_own(NamedSection::Tags, name)?.clone();
    Ok(Answer::ok(TagView { name: name.to_owned(), meta }).version(holder.generation()))
}

pub(super) async fn create(
    app: &App,
    login: &Authenticated,
    owner: Owner,
    document: &Document,
) -> ApiResult<Answer<TagView>> {
    let (name, meta) = view::read_new(document)?;
    let mut writing = app.change(login).await?;
    let holder = Holder::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { meta, generation, .. } = tag_create(writing, holder, &name, meta).await?;
    Ok(Answer::created(TagView { name, meta }).version(generation))
}

pub(super) async fn update(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
    document: &Document,
) -> ApiResult<Answer<TagView>> {
    let update = view::read_change(document)?;
    let mut writing = app.change(login).await?;
    let holder = Holder::find(&mut writing, login.tenant_limit(), owner).await?;
    let StoredEntry { meta, generation, .. } = tag_update(writing, holder, name, condition, update).await?;
    Ok(Answer::ok(TagView { name: name.to_owned(), meta }).version(generation))
}

pub(super) async fn delete(
    app: &App,
    login: &Authenticated,
    (owner, name): (Owner, &str),
    condition: &IfMatch,
) -> ApiResult<()> {
    let mut writing = app.change(login).await?;
    let holder = Holder::find(&mut writing, login.tenant_limit(), owner).await?;
    Ok(tag_delete(writing, holder, name, condition).await?)
}
