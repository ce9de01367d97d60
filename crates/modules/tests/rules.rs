//! Who may do what, and what is told: the tables of the contract.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

use serde_json::{Value, json};
use stoker_model::{Micros, Module, ModuleBody, ModuleId, TenantId};
use stoker_modules::input::{ApplyRequest, Create, ReapplyRequest, Update};
use stoker_modules::rules::{self, Surroundings};
use stoker_modules::{Datastores, Kind, Refusal, Who, datastore};

const USER: Who = Who { tenant_id: TenantId(7), is_admin: false };
const ADMIN: Who = Who { tenant_id: TenantId(1), is_admin: true };
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

fn create(who: Who, extra: &Value) -> Result<ModuleBody, Refusal> {
    let datastores = datastores();
    let read = Create::read(&body(extra))?;
    rules::create(&read, Surroundings { who, types: TYPES, datastores: &datastores })
}

fn update(who: Who, module: &ModuleBody, is_applied: bool, fields: &Value) -> Result<ModuleBody, Refusal> {
    let datastores = datastores();
    let read = Update::read(&json!({"module": fields}))?;
    let module = Module {
        id: ModuleId(1),
        generation: 1,
        uuid: "u".to_owned(),
        body: module.clone(),
        created_at: Micros(0),
        updated_at: Micros(0),
    };
    rules::update(&module, &read, is_applied, Surroundings { who, types: TYPES, datastores: &datastores })
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>, kind: Kind, beginning: &str) {
    let refusal = result.unwrap_err();
    assert_eq!(refusal.kind, kind, "{}", refusal.message);
    assert!(refusal.message.starts_with(beginning), "{}", refusal.message);
}

#[test]
fn what_is_not_said_has_its_default() {
    let made = create(USER, &json!({"is_admin": true, "unknown": {"x": 1}})).unwrap();
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
    assert_eq!(made, expected);
    let zeros =
        json!({"all_tenants": 0, "auto_apply": 0, "live_update": 0, "priority_apply": 0, "visible": 1});
    assert_eq!(create(USER, &zeros).unwrap(), expected, "what the client sends when nothing is said");
    let words = json!({"visible": true, "live_update": true, "apply_order": 9, "module_type": "PING"});
    let made = create(USER, &words).unwrap();
    assert_eq!((made.live_update, made.apply_order, made.module_type.as_str()), (true, 9, "ping"));
}

#[test]
fn wrong_fields_are_told_in_the_words_of_the_schema() {
    let long = "x".repeat(256);
    for (extra, told) in [
        (json!({"name": ""}), "module['name'] '' is too short"),
        (json!({"name": "…"}), "module['name'] '…' does not match"),
        (json!({"name": long}), "module['name'] is too long"),
        (json!({"name": 5}), "module['name'] 5 is not of type 'string'"),
        (json!({"name": "a\u{0}b"}), "module['name'] holds a NUL character"),
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
        refused(create(ADMIN, &extra), Kind::BadRequest, &format!("Validation error: {told}"));
    }
    for key in ["name", "module_type", "contents"] {
        let mut without = body(&json!({}));
        without["module"].as_object_mut().unwrap().remove(key);
        let told = format!("Validation error: module '{key}' is a required property");
        refused(Create::read(&without).map(|_| ()), Kind::BadRequest, &told);
    }
    for missing in [json!({}), json!([]), json!(null), json!({"modules": 1})] {
        let told = "Validation error: 'module' is a required property";
        refused(Create::read(&missing).map(|_| ()), Kind::BadRequest, told);
    }
    let both = Create::read(&body(&json!({"name": 1, "apply_order": 77}))).map(|_| ()).unwrap_err();
    assert!(both.message.contains("module['name']") && both.message.contains("; module['apply_order']"));
    let secret = Create::read(&body(&json!({"contents": {"a": "hunter2"}}))).map(|_| ()).unwrap_err();
    assert!(!secret.message.contains("hunter2"));
}

#[test]
fn only_an_admin_makes_what_is_for_admins() {
    for (extra, told) in [
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
        let told = format!("You must be admin to create a module with these options. {told}");
        refused(create(USER, &extra), Kind::Forbidden, &told);
        assert!(create(ADMIN, &extra).is_ok());
    }
    let both = json!({"full_access": 1, "priority_apply": 1});
    let told = "The following values are invalid: Cannot make module full access: (Priority: 1).";
    refused(create(ADMIN, &both), Kind::BadRequest, told);
    refused(create(USER, &both), Kind::BadRequest, told);
}

#[test]
fn types_and_datastores_have_to_be_there() {
    let told = "Module type 'x' was not found.";
    refused(create(ADMIN, &json!({"module_type": "X"})), Kind::NotFound, told);
    let on = |datastore: Value| create(USER, &json!({"datastore": datastore}));
    let made = on(json!({"type": "mysql", "version": "8.0"})).unwrap();
    assert!(datastore::fits(&made, "mysql", "8.0"));
    assert!(!datastore::fits(&made, "mysql", "8.4"));
    assert!(!datastore::fits(&made, "redis", "8.0"));
    assert!(datastore::fits(&on(json!({"type": "mysql"})).unwrap(), "mysql", "8.4"));
    refused(on(json!({"type": "x"})), Kind::NotFound, "Datastore 'x' cannot be found.");
    refused(
        on(json!({"type": "mysql", "version": "9"})),
        Kind::BadRequest,
        "Datastore version '9' cannot be found.",
    );
    refused(
        on(json!({"type": "mysql", "version": "7"})),
        Kind::BadRequest,
        "Datastore 'mysql' has no version '7'.",
    );
    refused(on(json!({"version": "8.0"})), Kind::BadRequest, "Datastore 'None' has no version '8.0'.");
}

#[test]
fn a_change_lays_itself_over_what_is_there() {
    let made = create(USER, &json!({"description": "d", "datastore": {"type": "mysql", "version": "8.0"}}));
    let made = made.unwrap();
    assert_eq!(update(USER, &made, false, &json!({})).unwrap(), made);
    let changed = json!({"contents": "bmV3", "apply_order": 0, "type": "FILE", "name": "other"});
    let changed = update(USER, &made, false, &changed).unwrap();
    assert_eq!(
        (changed.apply_order, changed.module_type.as_str(), changed.name.as_str()),
        (0, "file", "other")
    );
    assert_ne!(changed.md5, made.md5);
    assert_eq!(changed.description, made.description);
    let lifted = json!({"all_datastores": 1, "all_datastore_versions": 1});
    let lifted = update(USER, &made, false, &lifted).unwrap();
    assert_eq!((lifted.datastore, lifted.datastore_version), (None, None));
    for (fields, kind, told) in [
        (json!({"all_datastores": 1}), Kind::BadRequest, "Datastore 'None' has no version '8.0'."),
        (
            json!({"all_datastores": 1, "datastore": {"type": "mysql"}}),
            Kind::BadRequest,
            "The module is invalid: You cannot set a datastore and specify",
        ),
        (
            json!({"all_datastore_versions": 1, "datastore": {"version": "8.0"}}),
            Kind::BadRequest,
            "The module is invalid: You cannot set a datastore version and specify",
        ),
        (
            json!({"datastore": {"type": "redis"}}),
            Kind::BadRequest,
            "Datastore 'redis' has no version '8.0'.",
        ),
        (json!({"type": "nonesuch"}), Kind::NotFound, "Module type 'nonesuch' was not found."),
        (json!({"apply_order": 10}), Kind::BadRequest, "Validation error: module['apply_order'] 10"),
        (json!({"description": null}), Kind::BadRequest, "Validation error: module['description']"),
        (json!({"priority_apply": 1}), Kind::Forbidden, "You must be admin to update a module"),
        (json!({"full_access": 0}), Kind::Forbidden, "You must be admin to update a module"),
    ] {
        refused(update(USER, &made, false, &fields), kind, told);
    }
    assert!(update(USER, &made, false, &json!({"priority_apply": 0})).is_ok());
}

#[test]
fn what_is_applied_stays_unless_it_is_live() {
    let made = create(USER, &json!({})).unwrap();
    let told = "A module cannot be deleted or its contents modified if it has been applied";
    refused(update(USER, &made, true, &json!({"description": "new"})), Kind::Forbidden, told);
    refused(update(ADMIN, &made, true, &json!({"description": "new"})), Kind::Forbidden, told);
    let live = update(USER, &made, false, &json!({"live_update": 1})).unwrap();
    assert!(update(USER, &live, true, &json!({"contents": "bmV3"})).is_ok());
}

#[test]
fn an_admins_module_stays_an_admins() {
    let is_admin = |result: Result<ModuleBody, Refusal>| result.unwrap().is_admin;
    assert!(!is_admin(create(USER, &json!({}))));
    assert!(is_admin(create(ADMIN, &json!({}))));
    assert!(!is_admin(create(ADMIN, &json!({"full_access": 1}))));
    let of_user = create(USER, &json!({})).unwrap();
    assert!(!is_admin(update(USER, &of_user, false, &json!({"name": "n"}))));
    assert!(!is_admin(update(ADMIN, &of_user, false, &json!({"name": "n"}))), "no option is on");
    let lifted = update(ADMIN, &of_user, false, &json!({"priority_apply": 1})).unwrap();
    assert!(lifted.is_admin);
    let lowered = update(ADMIN, &lifted, false, &json!({"priority_apply": 0})).unwrap();
    assert!(lowered.is_admin, "it stays");
    let told = "You must be admin to update a module with these options. (Module is an admin module)";
    refused(update(USER, &lowered, false, &json!({"name": "mine"})), Kind::Forbidden, told);
    let freed = update(ADMIN, &lowered, false, &json!({"full_access": 1})).unwrap();
    assert!(!freed.is_admin);
    assert!(update(USER, &freed, false, &json!({"name": "mine"})).is_ok());
    assert!(is_admin(update(ADMIN, &freed, false, &json!({"full_access": 0}))));
    let told = "The following values are invalid: Cannot make module full access: (Priority: 1).";
    refused(update(ADMIN, &lifted, false, &json!({"full_access": 1})), Kind::BadRequest, told);
}

#[test]
fn deletion_follows_the_same_rules() {
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
    refused(rules::delete(&own, true, USER), Kind::Forbidden, "A module cannot be deleted");
    let priority = module(create(ADMIN, &json!({"priority_apply": 1})).unwrap());
    refused(rules::delete(&priority, false, USER), Kind::Forbidden, "You must be admin to delete");
    let sticky = module(create(ADMIN, &json!({})).unwrap());
    let told = "You must be admin to delete a module with these options. (Module is an admin module)";
    refused(rules::delete(&sticky, false, USER), Kind::Forbidden, told);
    assert!(rules::delete(&sticky, false, ADMIN).is_ok());
    let live = module(create(USER, &json!({"live_update": 1})).unwrap());
    assert!(rules::delete(&live, true, USER).is_ok());
}

#[test]
fn everybody_sees_their_own_and_what_is_for_all() {
    let other = Who { tenant_id: TenantId(8), is_admin: false };
    let own = create(USER, &json!({})).unwrap();
    let for_all = create(ADMIN, &json!({"all_tenants": 1})).unwrap();
    let hidden = create(ADMIN, &json!({"all_tenants": 1, "visible": 0})).unwrap();
    for (module, seen) in
        [(&own, [true, false, true]), (&for_all, [true; 3]), (&hidden, [false, false, true])]
    {
        assert_eq!([USER, other, ADMIN].map(|who| rules::sees(who, module)), seen);
    }
    assert!(rules::may_apply(other, &hidden), "whoever knows its id may apply it");
    assert!(!rules::may_apply(other, &own));
    assert!(rules::may_apply(ADMIN, &own));
}

#[test]
fn lists_to_apply_and_wishes_to_reapply_are_read() {
    let read = ApplyRequest::read(&json!({"modules": [{"id": "a"}, {"id": "b", "x": 1}, {"id": "a"}]}));
    assert_eq!(read.unwrap().ids, ["a", "b"]);
    for wrong in [json!({}), json!([]), json!({"modules": {}}), json!({"modules": [{"id": 1}, {}]})] {
        refused(ApplyRequest::read(&wrong), Kind::BadRequest, "Validation error: ");
    }
    let many: Vec<Value> = (0..1001).map(|id| json!({"id": id.to_string()})).collect();
    refused(ApplyRequest::read(&json!({"modules": many})), Kind::BadRequest, "Validation error: modules has");
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
        refused(ReapplyRequest::read(&wrong), Kind::BadRequest, "Validation error: ");
    }
}
