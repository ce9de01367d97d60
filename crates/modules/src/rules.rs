//! Who may do what with a module, and what becomes of it.

use stoker_model::{Module, ModuleBody, TenantId};

use crate::datastore::Datastores;
use crate::input::{APPLY_ORDER_DEFAULT, Create, Update};
use crate::md5::md5_hex;
use crate::refusal::{Refusal, Refused, shown};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    pub tenant_id: TenantId,
    pub is_admin: bool,
}

/// What a decision needs beside the module.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'s> {
    pub who: Who,
    /// The types there are drivers for.
    pub types: &'s [&'s str],
    pub datastores: &'s Datastores,
}

/// Whether a module exists for somebody.
pub fn sees(who: Who, module: &ModuleBody) -> bool {
    who.is_admin || (module.visible && is_of(who.tenant_id, module))
}

/// Whether a module is of a tenant, or of all.
pub fn is_of(tenant_id: TenantId, module: &ModuleBody) -> bool {
    module.tenant_id.is_none_or(|owner| owner == tenant_id)
}

/// Whether somebody who knows its id may apply it. Hidden ones too; an admin applies everybody's.
pub fn may_apply(who: Who, module: &ModuleBody) -> bool {
    who.is_admin || is_of(who.tenant_id, module)
}

/// A module to be made, as it will be.
pub fn create(create: &Create, cx: Surroundings<'_>) -> Refused<ModuleBody> {
    let Create { name, module_type, contents, options } = create;
    check_type(module_type, cx.types)?;
    let body = ModuleBody {
        name: name.clone(),
        module_type: module_type.clone(),
        description: options.description.clone(),
        tenant_id: (!options.all_tenants.unwrap_or(false)).then_some(cx.who.tenant_id),
        datastore: options.datastore.clone(),
        datastore_version: options.datastore_version.clone(),
        auto_apply: options.auto_apply.unwrap_or(false),
        visible: options.visible.unwrap_or(true),
        live_update: options.live_update.unwrap_or(false),
        priority_apply: options.priority_apply.unwrap_or(false),
        apply_order: options.apply_order.unwrap_or(APPLY_ORDER_DEFAULT),
        is_admin: cx.who.is_admin && options.full_access != Some(true),
        md5: md5_hex(contents),
    };
    check_options(&body, options.full_access, cx.who, "create")?;
    cx.datastores.check(body.datastore.as_deref(), body.datastore_version.as_deref())?;
    Ok(body)
}

/// A module after a change. `is_applied`: some instance carries it with its present contents.
pub fn update(
    module: &Module,
    update: &Update,
    is_applied: bool,
    cx: Surroundings<'_>,
) -> Refused<ModuleBody> {
    require_loose(&module.body, is_applied)?;
    require_admin(&module.body, cx.who, "update")?;
    let Update { name, module_type, contents, options, .. } = update;
    let mut body = module.body.clone();
    set(&mut body.name, name.as_ref());
    set(&mut body.module_type, module_type.as_ref());
    set(&mut body.auto_apply, options.auto_apply.as_ref());
    set(&mut body.visible, options.visible.as_ref());
    set(&mut body.live_update, options.live_update.as_ref());
    set(&mut body.priority_apply, options.priority_apply.as_ref());
    set(&mut body.apply_order, options.apply_order.as_ref());
    if options.description.is_some() {
        body.description.clone_from(&options.description);
    }
    match options.all_tenants {
        Some(true) => body.tenant_id = None,
        Some(false) => body.tenant_id = Some(cx.who.tenant_id),
        None => {}
    }
    if let Some(contents) = contents {
        body.md5 = md5_hex(contents);
    }
    lay_datastore(&mut body, update);
    check_options(&body, options.full_access, cx.who, "update")?;
    if cx.who.is_admin {
        body.is_admin = match options.full_access {
            Some(full_access) => !full_access,
            None => body.is_admin || !admin_options(&body).is_empty(),
        };
    }
    if module_type.is_some() {
        check_type(&body.module_type, cx.types)?;
    }
    cx.datastores.check(body.datastore.as_deref(), body.datastore_version.as_deref())?;
    Ok(body)
}

/// Whether somebody who sees a module may delete it.
pub fn delete(module: &Module, is_applied: bool, who: Who) -> Refused<()> {
    check_options(&module.body, None, who, "delete")?;
    require_admin(&module.body, who, "delete")?;
    require_loose(&module.body, is_applied)
}

/// Two living modules with the same of these are one too many.
pub fn duplicate(body: &ModuleBody) -> Refusal {
    let all = |name: &Option<String>| name.clone().unwrap_or_else(|| "all".to_owned());
    Refusal::bad(format!(
        "A module with the name '{}' already exists for datastore '{}' and datastore version '{}'",
        body.name,
        all(&body.datastore),
        all(&body.datastore_version)
    ))
}

fn set<T: Clone>(place: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        place.clone_from(value);
    }
}

fn lay_datastore(body: &mut ModuleBody, update: &Update) {
    if update.all_datastores {
        body.datastore = None;
    } else if update.options.datastore.is_some() {
        body.datastore.clone_from(&update.options.datastore);
    }
    if update.all_datastore_versions {
        body.datastore_version = None;
    } else if update.options.datastore_version.is_some() {
        body.datastore_version.clone_from(&update.options.datastore_version);
    }
}

fn check_type(module_type: &str, types: &[&str]) -> Refused<()> {
    if types.contains(&module_type) {
        return Ok(());
    }
    Err(Refusal::not_found(format!("Module type '{}' was not found.", shown(module_type))))
}

/// The options that only an admin may leave on.
fn admin_options(body: &ModuleBody) -> Vec<&'static str> {
    let all = [
        (body.tenant_id.is_none(), "Tenant: all"),
        (body.auto_apply, "Auto: 1"),
        (!body.visible, "Visible: 0"),
        (body.priority_apply, "Priority: 1"),
    ];
    all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, told)| told).collect()
}

/// The module as it would be afterwards.
fn check_options(body: &ModuleBody, full_access: Option<bool>, who: Who, action: &str) -> Refused<()> {
    let mut options = admin_options(body);
    if full_access == Some(true) && !options.is_empty() {
        return Err(Refusal::bad(format!(
            "The following values are invalid: Cannot make module full access: ({}).",
            options.join(", ")
        )));
    }
    match full_access {
        Some(true) => options.push("Full Access: 1"),
        Some(false) => options.push("Full Access: 0"),
        None => {}
    }
    if who.is_admin || options.is_empty() {
        return Ok(());
    }
    Err(must_be_admin(action, &options.join(", ")))
}

fn require_admin(body: &ModuleBody, who: Who, action: &str) -> Refused<()> {
    if body.is_admin && !who.is_admin {
        return Err(must_be_admin(action, "Module is an admin module"));
    }
    Ok(())
}

fn must_be_admin(action: &str, options: &str) -> Refusal {
    Refusal::forbidden(format!("You must be admin to {action} a module with these options. ({options})"))
}

fn require_loose(body: &ModuleBody, is_applied: bool) -> Refused<()> {
    if is_applied && !body.live_update {
        return Err(Refusal::forbidden(
            "A module cannot be deleted or its contents modified if it has been applied to a non-terminated \
             instance, unless the module has been marked as 'live_update.'",
        ));
    }
    Ok(())
}
