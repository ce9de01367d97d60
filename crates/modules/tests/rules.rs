//! Permission rules and error messages of the module API.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

use serde_json::{Value, json};
use stoker_model::{Micros, Module, ModuleBody, ModuleId, TenantId};
use stoker_modules::input::{ApplyRequest, CreateRequest, ReapplyRequest, UpdateRequest};
use stoker_modules::rules::{self, RuleContext};
use stoker_modules::{Datastores, ErrorKind, Requester, RuleViolation, datastore};

const USER: Requester = Requester { tenant_id: TenantId(7), is_admin: false };
const ADMIN: Requester = Requester { tenant_id: TenantId(1), is_admin: true };
const TYPES: &[&str] = &["file", "ping"];

fn datastores() -> Datastores {
    Datastores(vec![
        ("mysql".to_owned(), "8.0".to_owned()),
        ("mysql".to_owned(), "8.4".to_owned()),
        ("redis".to_owned(), "7".to_owned()),
    ])
}

fn body(extra: &Value) -> Value {
    let mut module = json!({"name": "license", "module_type": "ping", "contents": "bWVzc2FnZT1oaQo="});
    for (key, value) in extra.as_object().unwrap() {
        module[key] = value.clone();
    }
    json!({"module": module})
}

fn create(who: Requester, extra: &Value) -> Result<ModuleBody, RuleViolation> {
    let datastores = datastores();
    let read = CreateRequest::read(&body(extra))?;
    rules::create(&read, RuleContext { who, types: TYPES, datastores: &datastores })
}

fn update(
    who: Requester,
    module: &ModuleBody,
    is_applied: bool,
    fields: &Value,
) -> Result<ModuleBody, RuleViolation> {
    let datastores = datastores();
    let read = UpdateRequest::read(&json!({"module": fields}))?;
    let module = Module {
        id: ModuleId(1),
        generation: 1,
        uuid: "u".to_owned(),
        body: module.clone(),
        created_at: Micros(0),
        updated_at: Micros(0),
    };
    rules::update(&module, &read, is_applied, RuleContext { who, types: TYPES, datastores: &datastores })
}

#[track_caller]
fn assert_rejected<T: std::fmt::Debug>(result: Result<T, RuleViolation>, kind: ErrorKind, beginning: &str) {
    let refusal = result.unwrap_err();
    assert_eq!(refusal.kind, kind, "{}", refusal.message);
    assert!(refusal.message.starts_with(beginning), "{}", refusal.message);
}

#[test]
fn missing_options_have_defaults() {
    let created = create(USER, &json!({})).unwrap();
    let expected = ModuleBody {
        name: "license".to_owned(),
        module_type: "ping".to_owned(),
        description: None,
        tenant_id: Some(TenantId(7)),
        datastore: None,
        datastore_version: None,
        auto_apply: false,
        visible: true,
        live_update: false,
        priority_apply: false,
        apply_order: 5,
        is_admin: false,
        md5: "e18e9c0a4d721c428e2e328126d01a30".to_owned(),
    };
    assert_eq!(created, expected);
    let zeros =
        json!({"all_tenants": 0, "auto_apply": 0, "live_update": 0, "priority_apply": 0, "visible": 1});
    assert_eq!(create(USER, &zeros).unwrap(), expected, "the client sends these by default");
    let words = json!({"visible": true, "live_update": true, "apply_order": 9, "module_type": "PING"});
    let created = create(USER, &words).unwrap();
    assert_eq!((created.live_update, created.apply_order, created.module_type.as_str()), (true, 9, "ping"));
}

#[test]
fn invalid_fields_have_schema_messages() {
    let long = "x".repeat(256);
    for (extra, message) in [
        (
            json!({"is_admin": true, "restorePoint": {}}),
            "module: Additional properties are not allowed ('is_admin', 'restorePoint' were unexpected)",
        ),
        (
            json!({"datastore": {"typ": "mysql"}}),
            "module['datastore']: Additional properties are not allowed ('typ' was",
        ),
        (json!({"name": ""}), "module['name'] '' is too short"),
        (json!({"name": "…"}), "module['name'] '…' does not match"),
        (json!({"name": long}), "module['name'] is too long"),
        (json!({"name": 5}), "module['name'] 5 is not of type 'string'"),
        (json!({"name": "a\u{0}b"}), "module['name'] contains a NUL character"),
        (json!({"description": null}), "module['description'] None is not of type 'string'"),
        (json!({"description": ""}), "module['description'] '' is too short"),
        (json!({"module_type": "  "}), "module['module_type'] '  ' does not match"),
        (json!({"contents": ""}), "module['contents'] '' is too short"),
        (json!({"contents": {"a": "secret"}}), "module['contents'] is not of type 'string'"),
        (json!({"apply_order": -1}), "module['apply_order'] -1 is less than the minimum of 0"),
        (json!({"apply_order": 10}), "module['apply_order'] 10 is greater than the maximum of 9"),
        (json!({"apply_order": u64::MAX}), "module['apply_order'] 18446744073709551615 is greater than"),
        (json!({"apply_order": 1e30}), "module['apply_order'] 1e+30 is greater than the maximum of 9"),
        (json!({"apply_order": -1e30}), "module['apply_order'] -1e+30 is less than the minimum of 0"),
        (json!({"apply_order": "5"}), "module['apply_order'] '5' is not of type 'integer'"),
        (json!({"apply_order": 5.0}), "module['apply_order'] 5.0 is not of type 'integer'"),
        (json!({"apply_order": true}), "module['apply_order'] True is not of type 'integer'"),
        (json!({"apply_order": null}), "module['apply_order'] None is not of type 'integer'"),
        (json!({"visible": 2}), "module['visible'] 2 is not one of [0, 1"),
        (json!({"visible": "1"}), "module['visible'] '1' is not one of"),
        (json!({"priority_apply": null}), "module['priority_apply'] None is not one of"),
        (json!({"full_access": -1}), "module['full_access'] -1 is not one of"),
        (json!({"datastore": "mysql"}), "module['datastore'] 'mysql' is not of type 'object'"),
        (json!({"datastore": {"type": ""}}), "module['datastore']['type'] '' is too short"),
    ] {
        assert_rejected(
            create(ADMIN, &extra),
            ErrorKind::BadRequest,
            &format!("Validation error: {message}"),
        );
    }
    for key in ["name", "module_type", "contents"] {
        let mut without = body(&json!({}));
        without["module"].as_object_mut().unwrap().remove(key);
        let message = format!("Validation error: module '{key}' is a required property");
        assert_rejected(CreateRequest::read(&without).map(|_| ()), ErrorKind::BadRequest, &message);
    }
    for missing in [json!({}), json!([]), json!(null), json!({"modules": 1})] {
        let message = "Validation error: 'module' is a required property";
        assert_rejected(CreateRequest::read(&missing).map(|_| ()), ErrorKind::BadRequest, message);
    }
    let both = CreateRequest::read(&body(&json!({"name": 1, "apply_order": 77}))).map(|_| ()).unwrap_err();
    assert!(both.message.contains("module['name']") && both.message.contains("; module['apply_order']"));
    let secret = CreateRequest::read(&body(&json!({"contents": {"a": "hunter2"}}))).map(|_| ()).unwrap_err();
    assert!(!secret.message.contains("hunter2"));
}

#[test]
fn admin_options_require_an_admin() {
    for (extra, message) in [
        (json!({"all_tenants": 1}), "(Tenant: all)"),
        (json!({"auto_apply": 1}), "(Auto: 1)"),
        (json!({"visible": 0}), "(Visible: 0)"),
        (json!({"priority_apply": true}), "(Priority: 1)"),
        (json!({"full_access": 1}), "(Full Access: 1)"),
        (json!({"full_access": 0}), "(Full Access: 0)"),
        (
            json!({"all_tenants": 1, "auto_apply": 1, "visible": 0, "priority_apply": 1}),
            "(Tenant: all, Auto: 1, Visible: 0, Priority: 1)",
        ),
    ] {
        let message = format!("You must be admin to create a module with these options. {message}");
        assert_rejected(create(USER, &extra), ErrorKind::Forbidden, &message);
        assert!(create(ADMIN, &extra).is_ok());
    }
    let both = json!({"full_access": 1, "priority_apply": 1});
    let message = "The following values are invalid: Cannot make module full access: (Priority: 1).";
    assert_rejected(create(ADMIN, &both), ErrorKind::BadRequest, message);
    assert_rejected(create(USER, &both), ErrorKind::BadRequest, message);
}

#[test]
fn unknown_types_and_datastores_are_rejected() {
    let message = "Module type 'x' was not found.";
    assert_rejected(create(ADMIN, &json!({"module_type": "X"})), ErrorKind::NotFound, message);
    let on = |datastore: Value| create(USER, &json!({"datastore": datastore}));
    let created = on(json!({"type": "mysql", "version": "8.0"})).unwrap();
    assert!(datastore::is_compatible(&created, "mysql", "8.0"));
    assert!(!datastore::is_compatible(&created, "mysql", "8.4"));
    assert!(!datastore::is_compatible(&created, "redis", "8.0"));
    assert!(datastore::is_compatible(&on(json!({"type": "mysql"})).unwrap(), "mysql", "8.4"));
    assert_rejected(on(json!({"type": "x"})), ErrorKind::NotFound, "Datastore 'x' cannot be found.");
    assert_rejected(
        on(json!({"type": "mysql", "version": "9"})),
        ErrorKind::BadRequest,
        "Datastore version '9' cannot be found.",
    );
    assert_rejected(
        on(json!({"type": "mysql", "version": "7"})),
        ErrorKind::BadRequest,
        "Datastore 'mysql' has no version '7'.",
    );
    assert_rejected(
        on(json!({"version": "8.0"})),
        ErrorKind::BadRequest,
        "Datastore 'None' has no version '8.0'.",
    );
}

#[test]
fn update_changes_only_given_fields() {
    let created =
        create(USER, &json!({"description": "d", "datastore": {"type": "mysql", "version": "8.0"}}));
    let created = created.unwrap();
    assert_eq!(update(USER, &created, false, &json!({})).unwrap(), created);
    let changed = json!({"contents": "bmV3", "apply_order": 0, "type": "FILE", "name": "other"});
    let changed = update(USER, &created, false, &changed).unwrap();
    assert_eq!(
        (changed.apply_order, changed.module_type.as_str(), changed.name.as_str()),
        (0, "file", "other")
    );
    assert_ne!(changed.md5, created.md5);
    assert_eq!(changed.description, created.description);
    let changed = json!({"all_datastores": 1, "all_datastore_versions": 1});
    let changed = update(USER, &created, false, &changed).unwrap();
    assert_eq!((changed.datastore, changed.datastore_version), (None, None));
    for (fields, kind, message) in [
        (json!({"all_datastores": 1}), ErrorKind::BadRequest, "Datastore 'None' has no version '8.0'."),
        (
            json!({"all_datastores": 1, "datastore": {"type": "mysql"}}),
            ErrorKind::BadRequest,
            "The module is invalid: You cannot set a datastore and specify",
        ),
        (
            json!({"all_datastore_versions": 1, "datastore": {"version": "8.0"}}),
            ErrorKind::BadRequest,
            "The module is invalid: You cannot set a datastore version and specify",
        ),
        (
            json!({"datastore": {"type": "redis"}}),
            ErrorKind::BadRequest,
            "Datastore 'redis' has no version '8.0'.",
        ),
        (json!({"type": "nonesuch"}), ErrorKind::NotFound, "Module type 'nonesuch' was not found."),
        (json!({"apply_order": 10}), ErrorKind::BadRequest, "Validation error: module['apply_order'] 10"),
        (json!({"description": null}), ErrorKind::BadRequest, "Validation error: module['description']"),
        (json!({"priority_apply": 1}), ErrorKind::Forbidden, "You must be admin to update a module"),
        (json!({"full_access": 0}), ErrorKind::Forbidden, "You must be admin to update a module"),
    ] {
        assert_rejected(update(USER, &created, false, &fields), kind, message);
    }
    assert!(update(USER, &created, false, &json!({"priority_apply": 0})).is_ok());
}

#[test]
fn applied_module_is_immutable_unless_live_update() {
    let created = create(USER, &json!({})).unwrap();
    let message = "A module cannot be deleted or its contents modified if it has been applied";
    assert_rejected(
        update(USER, &created, true, &json!({"description": "new"})),
        ErrorKind::Forbidden,
        message,
    );
    assert_rejected(
        update(ADMIN, &created, true, &json!({"description": "new"})),
        ErrorKind::Forbidden,
        message,
    );
    let live = update(USER, &created, false, &json!({"live_update": 1})).unwrap();
    assert!(update(USER, &live, true, &json!({"contents": "bmV3"})).is_ok());
}

#[test]
fn admin_flag_is_sticky() {
    let is_admin = |result: Result<ModuleBody, RuleViolation>| result.unwrap().is_admin;
    assert!(!is_admin(create(USER, &json!({}))));
    assert!(is_admin(create(ADMIN, &json!({}))));
    assert!(!is_admin(create(ADMIN, &json!({"full_access": 1}))));
    let of_user = create(USER, &json!({})).unwrap();
    assert!(!is_admin(update(USER, &of_user, false, &json!({"name": "n"}))));
    assert!(!is_admin(update(ADMIN, &of_user, false, &json!({"name": "n"}))), "no admin option is set");
    let changed = update(ADMIN, &of_user, false, &json!({"priority_apply": 1})).unwrap();
    assert!(changed.is_admin);
    let lowered = update(ADMIN, &changed, false, &json!({"priority_apply": 0})).unwrap();
    assert!(lowered.is_admin, "the flag is sticky");
    let message = "You must be admin to update a module with these options. (Module is an admin module)";
    assert_rejected(update(USER, &lowered, false, &json!({"name": "mine"})), ErrorKind::Forbidden, message);
    let freed = update(ADMIN, &lowered, false, &json!({"full_access": 1})).unwrap();
    assert!(!freed.is_admin);
    assert!(update(USER, &freed, false, &json!({"name": "mine"})).is_ok());
    assert!(is_admin(update(ADMIN, &freed, false, &json!({"full_access": 0}))));
    let message = "The following values are invalid: Cannot make module full access: (Priority: 1).";
    assert_rejected(
        update(ADMIN, &changed, false, &json!({"full_access": 1})),
        ErrorKind::BadRequest,
        message,
    );
}

#[test]
fn deletion_requires_the_same_permissions() {
    let module = |body: ModuleBody| Module {
        id: ModuleId(1),
        generation: 1,
        uuid: "u".to_owned(),
        body,
        created_at: Micros(0),
        updated_at: Micros(0),
    };
    let own = module(create(USER, &json!({})).unwrap());
    assert!(rules::delete(&own, false, USER).is_ok());
    assert_rejected(rules::delete(&own, true, USER), ErrorKind::Forbidden, "A module cannot be deleted");
    let priority = module(create(ADMIN, &json!({"priority_apply": 1})).unwrap());
    assert_rejected(
        rules::delete(&priority, false, USER),
        ErrorKind::Forbidden,
        "You must be admin to delete",
    );
    let sticky = module(create(ADMIN, &json!({})).unwrap());
    let message = "You must be admin to delete a module with these options. (Module is an admin module)";
    assert_rejected(rules::delete(&sticky, false, USER), ErrorKind::Forbidden, message);
    assert!(rules::delete(&sticky, false, ADMIN).is_ok());
    let live = module(create(USER, &json!({"live_update": 1})).unwrap());
    assert!(rules::delete(&live, true, USER).is_ok());
}

#[test]
fn users_see_own_and_shared_modules() {
    let other = Requester { tenant_id: TenantId(8), is_admin: false };
    let own = create(USER, &json!({})).unwrap();
    let for_all = create(ADMIN, &json!({"all_tenants": 1})).unwrap();
    let hidden = create(ADMIN, &json!({"all_tenants": 1, "visible": 0})).unwrap();
    for (module, expected) in
        [(&own, [true, false, true]), (&for_all, [true; 3]), (&hidden, [false, false, true])]
    {
        assert_eq!([USER, other, ADMIN].map(|who| rules::can_see(who, module)), expected);
    }
    assert!(rules::may_apply(other, &hidden), "a hidden module can be applied by id");
    assert!(!rules::may_apply(other, &own));
    assert!(rules::may_apply(ADMIN, &own));
}

#[test]
fn apply_and_reapply_requests_are_parsed() {
    let read = ApplyRequest::read(&json!({"modules": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}));
    assert_eq!(read.unwrap().ids, ["a", "b"]);
    for wrong in [
        json!({}),
        json!([]),
        json!({"modules": {}}),
        json!({"modules": [{"id": 1}, {}]}),
        json!({"modules": [{"id": "b", "x": 1}]}),
    ] {
        assert_rejected(ApplyRequest::read(&wrong), ErrorKind::BadRequest, "Validation error: ");
    }
    let many: Vec<Value> = (0..1001).map(|id| json!({"id": id.to_string()})).collect();
    assert_rejected(
        ApplyRequest::read(&json!({"modules": many})),
        ErrorKind::BadRequest,
        "Validation error: modules has",
    );
    assert_eq!(ReapplyRequest::read(&json!({"reapply": {}})).unwrap(), ReapplyRequest::default());
    let full = json!({"reapply": {"md5": "x", "include_clustered": 1, "batch_size": 3, "batch_delay": 0, "force": true}});
    let full = ReapplyRequest::read(&full).unwrap();
    assert_eq!((full.md5.as_deref(), full.batch_size, full.batch_delay_s), (Some("x"), Some(3), Some(0)));
    for wrong in [
        json!({}),
        json!({"reapply": 1}),
        json!({"reapply": {"batch_size": 0}}),
        json!({"reapply": {"batch_size": "5"}}),
        json!({"reapply": {"batch_delay": -1}}),
        json!({"reapply": {"force": 3}}),
    ] {
        assert_rejected(ReapplyRequest::read(&wrong), ErrorKind::BadRequest, "Validation error: ");
    }
}
