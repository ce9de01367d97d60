//! Changes of the roles and tags of a release or a cluster, which are addressed by name.

use std::collections::BTreeSet;

use serde_json::json;
use stoker_api_types::roles::{NewRoleBody, RoleBody};
use stoker_api_types::tags::{NewTagBody, TagBody};
use stoker_model::{AuditChange, ClusterId, Json, JsonMap};
use stoker_store::{Session, WriteTransaction};

use super::holder::{NamedSection, RoleOwner, require_unused};
use super::sections;
use crate::error::{ServiceError, ServiceResult};
use crate::precondition::Precondition;

/// A stored role or tag, and the new generation of its owner.
pub struct StoredEntry {
    pub name: String,
    pub holder: RoleOwner,
    pub meta: Json,
    pub generation: i64,
}

/// Creates a role of an owner that was read in the same transaction.
pub async fn role_create(
    writing: WriteTransaction,
    mut holder: RoleOwner,
    role: NewRoleBody,
) -> ServiceResult<StoredEntry> {
    let NewRoleBody { name, meta, volumes_roles_mapping } = role;
    let (name, volumes) = (name.as_str(), volumes_roles_mapping.unwrap_or_default());
    require_free(&holder, NamedSection::Roles, name)?;
    require_known_references(&holder, name, Some(&meta), &volumes)?;
    let meta = Json::Object(meta);
    holder.declared_mut(NamedSection::Roles).insert(name.to_owned(), meta.clone());
    holder.set_volumes_of_role(name, Some(volumes));
    store(writing, holder, ("role", name), meta, "role.create").await
}

/// Updates a role; absent fields keep their values.
pub async fn role_update(
    writing: WriteTransaction,
    mut holder: RoleOwner,
    name: &str,
    precondition: &Precondition,
    update: RoleBody,
) -> ServiceResult<StoredEntry> {
    let old = holder.find_declared(NamedSection::Roles, name)?.clone();
    precondition.check(holder.generation())?;
    if update.name.as_deref().is_some_and(|new_name| new_name != name) {
        return Err(ServiceError::invalid(format!("cannot rename role `{name}`")));
    }
    require_known_references(
        &holder,
        name,
        update.meta.as_ref(),
        update.volumes_roles_mapping.as_deref().unwrap_or_default(),
    )?;
    let meta = update.meta.map_or(old, Json::Object);
    holder.declared_mut(NamedSection::Roles).insert(name.to_owned(), meta.clone());
    if update.volumes_roles_mapping.is_some() {
        holder.set_volumes_of_role(name, update.volumes_roles_mapping);
    }
    store(writing, holder, ("role", name), meta, "role.update").await
}

/// Deletes a role that no node has.
pub async fn role_delete(
    mut writing: WriteTransaction,
    mut holder: RoleOwner,
    name: &str,
    precondition: &Precondition,
) -> ServiceResult<()> {
    holder.find_declared(NamedSection::Roles, name)?;
    precondition.check(holder.generation())?;
    let clusters = holder.clusters(&mut writing).await?;
    let clusters: Vec<ClusterId> = clusters.iter().map(|cluster| cluster.id).collect();
    require_unused(&mut writing, &clusters, &[name]).await?;
    holder.declared_mut(NamedSection::Roles).shift_remove(name);
    holder.set_volumes_of_role(name, None);
    store(writing, holder, ("role", name), Json::Null, "role.delete").await.map(drop)
}

/// Creates a tag of an owner that was read in the same transaction.
pub async fn tag_create(
    writing: WriteTransaction,
    mut holder: RoleOwner,
    tag: NewTagBody,
) -> ServiceResult<StoredEntry> {
    let NewTagBody { name, meta } = tag;
    require_free(&holder, NamedSection::Tags, &name)?;
    let meta = Json::Object(meta);
    holder.declared_mut(NamedSection::Tags).insert(name.clone(), meta.clone());
    store(writing, holder, ("tag", &name), meta, "tag.create").await
}

/// Updates a tag; absent fields keep their values.
pub async fn tag_update(
    writing: WriteTransaction,
    mut holder: RoleOwner,
    name: &str,
    precondition: &Precondition,
    update: TagBody,
) -> ServiceResult<StoredEntry> {
    let old = holder.find_declared(NamedSection::Tags, name)?.clone();
    precondition.check(holder.generation())?;
    if update.name.is_some_and(|new_name| new_name != name) {
        return Err(ServiceError::invalid(format!("cannot rename tag `{name}`")));
    }
    let meta = update.meta.map_or(old, Json::Object);
    holder.declared_mut(NamedSection::Tags).insert(name.to_owned(), meta.clone());
    store(writing, holder, ("tag", name), meta, "tag.update").await
}

/// Deletes a tag that no role assigns.
pub async fn tag_delete(
    mut writing: WriteTransaction,
    mut holder: RoleOwner,
    name: &str,
    precondition: &Precondition,
) -> ServiceResult<()> {
    holder.find_declared(NamedSection::Tags, name)?;
    precondition.check(holder.generation())?;
    let roles = roles_with(&mut writing, &holder, name).await?;
    if !roles.is_empty() {
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        return Err(ServiceError::invalid(format!(
            "Tag '{name}' is in use by the roles {}",
            roles.join(", ")
        )));
    }
    holder.declared_mut(NamedSection::Tags).shift_remove(name);
    store(writing, holder, ("tag", name), Json::Null, "tag.delete").await.map(drop)
}

fn require_free(holder: &RoleOwner, section: NamedSection, name: &str) -> ServiceResult<()> {
    if !holder.all(section).contains_key(name) {
        return Ok(());
    }
    let message = format!("{} with name '{name}' already exists for the {}", section.class(), holder.name());
    Err(ServiceError::conflict(message))
}

async fn store(
    mut writing: WriteTransaction,
    holder: RoleOwner,
    (noun, name): (&str, &str),
    meta: Json,
    action: &'static str,
) -> ServiceResult<StoredEntry> {
    let generation = holder.store(&mut writing).await?;
    writing.commit(AuditChange { action, target: holder.name(), detail: json!({noun: name}) }).await?;
    Ok(StoredEntry { name: name.to_owned(), holder, meta, generation })
}

/// Rejects roles with unknown tags or volumes.
fn require_known_references(
    holder: &RoleOwner,
    name: &str,
    meta: Option<&JsonMap>,
    volumes: &[Json],
) -> ServiceResult<()> {
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
    if problems.is_empty() { Ok(()) } else { Err(ServiceError::invalid(problems.join("\n"))) }
}

/// Returns the roles that assign this tag: the roles of its owner and, for a release, the roles of its
/// clusters.
async fn roles_with(session: &mut Session, holder: &RoleOwner, tag: &str) -> ServiceResult<BTreeSet<String>> {
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
