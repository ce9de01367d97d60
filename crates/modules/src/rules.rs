//! Permission rules for modules, and the effect of changes.

use stoker_model::{Module, ModuleBody, TenantId};

use crate::datastore::Datastores;
use crate::error::{RuleResult, RuleViolation, truncated};
use crate::input::{APPLY_ORDER_DEFAULT, CreateRequest, UpdateRequest};
use crate::md5::md5_hex;

/// The user who sends the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    pub tenant_id: TenantId,
    pub is_admin: bool,
}

/// Inputs of a decision in addition to the module.
#[derive(Clone, Copy, Debug)]
pub struct RuleContext<'s> {
    pub who: Requester,
    /// The module types that have drivers.
    pub types: &'s [&'s str],
    pub datastores: &'s Datastores,
}

/// Reports whether the caller can see a module.
pub fn can_see(who: Requester, module: &ModuleBody) -> bool {
    who.is_admin || (module.visible && belongs_to(who.tenant_id, module))
}

/// Reports whether a module belongs to a tenant or to all tenants.
pub fn belongs_to(tenant_id: TenantId, module: &ModuleBody) -> bool {
    module.tenant_id.is_none_or(|owner| owner == tenant_id)
}

/// Reports whether a caller who knows the id of a module may apply it, even if it is hidden. Admins may apply
/// all modules.
pub fn may_apply(who: Requester, module: &ModuleBody) -> bool {
    who.is_admin || belongs_to(who.tenant_id, module)
}

/// Returns the module that a creation request results in.
pub fn create(create: &CreateRequest, cx: RuleContext<'_>) -> RuleResult<ModuleBody> {
    let CreateRequest { name, module_type, contents, options } = create;
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

/// Returns the module after a change. `is_applied`: an instance has it with its current contents.
pub fn update(
    module: &Module,
    update: &UpdateRequest,
    is_applied: bool,
    cx: RuleContext<'_>,
) -> RuleResult<ModuleBody> {
    require_modifiable(&module.body, is_applied)?;
    require_admin(&module.body, cx.who, "update")?;
    let UpdateRequest { name, module_type, contents, options, .. } = update;
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
    apply_datastore(&mut body, update);
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

/// Checks that a caller who sees a module may delete it.
pub fn delete(module: &Module, is_applied: bool, who: Requester) -> RuleResult<()> {
    check_options(&module.body, None, who, "delete")?;
    require_admin(&module.body, who, "delete")?;
    require_modifiable(&module.body, is_applied)
}

/// Returns the error for two undeleted modules with equal name, datastore and version.
pub fn duplicate_error(body: &ModuleBody) -> RuleViolation {
    let all = |name: &Option<String>| name.clone().unwrap_or_else(|| "all".to_owned());
    RuleViolation::bad_request(format!(
        "A module with the name '{}' already exists for datastore '{}' and datastore version '{}'",
        body.name,
        all(&body.datastore),
        all(&body.datastore_version)
    ))
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

fn apply_datastore(body: &mut ModuleBody, update: &UpdateRequest) {
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

fn check_type(module_type: &str, types: &[&str]) -> RuleResult<()> {
    if types.contains(&module_type) {
        return Ok(());
    }
    Err(RuleViolation::not_found(format!("Module type '{}' was not found.", truncated(module_type))))
}

/// Returns the enabled options that only an admin may set.
fn admin_options(body: &ModuleBody) -> Vec<&'static str> {
    let all = [
        (body.tenant_id.is_none(), "Tenant: all"),
        (body.auto_apply, "Auto: 1"),
        (!body.visible, "Visible: 0"),
        (body.priority_apply, "Priority: 1"),
    ];
    all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, label)| label).collect()
}

/// Checks the options of a module as it would be after the change.
fn check_options(
    body: &ModuleBody,
    full_access: Option<bool>,
    who: Requester,
    action: &str,
) -> RuleResult<()> {
    let mut options = admin_options(body);
    if full_access == Some(true) && !options.is_empty() {
        return Err(RuleViolation::bad_request(format!(
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

fn require_admin(body: &ModuleBody, who: Requester, action: &str) -> RuleResult<()> {
    if body.is_admin && !who.is_admin {
        return Err(must_be_admin(action, "Module is an admin module"));
    }
    Ok(())
}

fn must_be_admin(action: &str, options: &str) -> RuleViolation {
    RuleViolation::forbidden(format!(
        "You must be admin to {action} a module with these options. ({options})"
    ))
}

fn require_modifiable(body: &ModuleBody, is_applied: bool) -> RuleResult<()> {
    if is_applied && !body.live_update {
        return Err(RuleViolation::forbidden(
            "A module cannot be deleted or its contents modified if it has been applied to a non-terminated \
             instance, unless the module has been marked as 'live_update.'",
        ));
    }
    Ok(())
}
