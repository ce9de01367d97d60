use stoker_model::{
    Cluster, EncryptedContents, Micros, Module, ModuleAction, ModuleBody, ModuleId, ModuleItem, ModuleRun,
    ModuleStatus, Node, NodeId, NodeModule, RunId, RunStatus, TenantId,
};
use stoker_store::{EncryptedLocation, ModuleFilter, StoreError, WriteTransaction};

use crate::fixture::{Fixture, NOW, cluster, commit, n_rows, node, run, tenant};

fn body(name: &str, tenant_id: Option<TenantId>) -> ModuleBody {
    ModuleBody {
        name: name.to_owned(),
        module_type: "ping".to_owned(),
        description: Some("Ängström".to_owned()),
        tenant_id,
        datastore: None,
        datastore_version: None,
        auto_apply: false,
        visible: true,
        live_update: false,
        priority_apply: false,
        apply_order: 5,
        is_admin: false,
        md5: "0123".to_owned(),
    }
}

fn sealed(key: &str, bytes: &[u8]) -> EncryptedContents {
    EncryptedContents { key: key.to_owned(), bytes: bytes.to_vec() }
}

async fn module(writing: &mut WriteTransaction, uuid: &str, body: &ModuleBody) -> Module {
    writing.module_create(uuid, body, &sealed("k1", b"\x00\xff secret")).await.unwrap()
}

async fn modules_are_stored_with_contents(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let red = tenant(&mut writing, "red").await;
    let created = module(&mut writing, "u1", &body("a", Some(red.id))).await;
    assert_eq!((created.created_at, created.updated_at, created.generation), (NOW, NOW, 1));
    assert_eq!(writing.module_by_uuid("u1").await.unwrap(), Some(created.clone()));
    assert_eq!(writing.module_by_uuid("nonesuch").await.unwrap(), None);
    assert_eq!(writing.module_by_uuid(&"x".repeat(5000)).await.unwrap(), None);
    assert_eq!(writing.module_contents(created.id).await.unwrap(), sealed("k1", b"\x00\xff secret"));
    assert_error!(writing.module_contents(ModuleId(99)).await, StoreError::NotFound { what: "module" });
    let missing = writing.module_create("u2", &body("b", Some(TenantId(99))), &sealed("k1", b"")).await;
    assert_error!(missing, StoreError::NotFound { what: "tenant" });
    let changed = Module {
        body: ModuleBody {
            apply_order: 0,
            priority_apply: true,
            md5: "4567".to_owned(),
            ..created.body.clone()
        },
        ..created.clone()
    };
    let changed = writing.module_update(&changed, Some(&sealed("k2", b"new"))).await.unwrap();
    assert_eq!(changed.generation, 2);
    assert_eq!(writing.module_by_uuid("u1").await.unwrap(), Some(changed.clone()));
    assert_eq!(writing.module_contents(created.id).await.unwrap(), sealed("k2", b"new"));
    assert_error!(writing.module_update(&created, None).await, StoreError::Stale { current: 2 });
    let unchanged = writing.module_update(&changed, None).await.unwrap();
    assert_eq!(writing.module_contents(unchanged.id).await.unwrap(), sealed("k2", b"new"));
    assert_error!(writing.tenant_delete(red.id).await, StoreError::Referenced { what: "module" });
    commit(writing).await;
    let mut writing = fixture.change().await;
    assert!(writing.module_delete(unchanged.id).await.unwrap());
    assert!(!writing.module_delete(unchanged.id).await.unwrap());
    commit(writing).await;
    assert_eq!(n_rows(fixture, "module_contents").await, 0);
}

async fn duplicate_modules_are_rejected(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (red, blue) = (tenant(&mut writing, "red").await, tenant(&mut writing, "blue").await);
    let own = body("a", Some(red.id));
    module(&mut writing, "u1", &own).await;
    let duplicate = writing.module_create("u2", &own, &sealed("k1", b"")).await;
    assert_error!(duplicate, StoreError::AlreadyExists { what: "module" });
    let others = [
        ModuleBody { tenant_id: Some(blue.id), ..own.clone() },
        ModuleBody { tenant_id: None, ..own.clone() },
        ModuleBody { module_type: "file".to_owned(), ..own.clone() },
        ModuleBody { datastore: Some("mysql".to_owned()), ..own.clone() },
        ModuleBody {
            datastore: Some("mysql".to_owned()),
            datastore_version: Some("8".to_owned()),
            ..own.clone()
        },
    ];
    for (number, other) in others.iter().enumerate() {
        module(&mut writing, &format!("o{number}"), other).await;
    }
    let for_all = writing.module_create("u3", &others[1], &sealed("k1", b"")).await;
    assert_error!(for_all, StoreError::AlreadyExists { what: "module" });
    let blue_one = writing.module_by_uuid("o0").await.unwrap().unwrap();
    let moved = Module { body: own, ..blue_one };
    assert_error!(writing.module_update(&moved, None).await, StoreError::AlreadyExists { what: "module" });
    commit(writing).await;
}

async fn list_filters(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (red, blue) = (tenant(&mut writing, "red").await, tenant(&mut writing, "blue").await);
    module(&mut writing, "own", &body("own", Some(red.id))).await;
    module(&mut writing, "others", &body("others", Some(blue.id))).await;
    let all = ModuleBody { auto_apply: true, datastore: Some("mysql".to_owned()), ..body("all", None) };
    module(&mut writing, "all", &all).await;
    module(&mut writing, "hidden", &ModuleBody { visible: false, auto_apply: true, ..body("hidden", None) })
        .await;
    let mut listed = async |filter: ModuleFilter| -> Vec<String> {
        let modules = writing.module_list(&filter).await.unwrap();
        modules.into_iter().map(|module| module.uuid).collect()
    };
    let all = ModuleFilter::default();
    assert_eq!(listed(all.clone()).await, ["own", "others", "all", "hidden"]);
    assert_eq!(listed(ModuleFilter { visible_to: Some(red.id), ..all.clone() }).await, ["own", "all"]);
    assert_eq!(listed(ModuleFilter { automatic_for: Some(red.id), ..all.clone() }).await, ["all", "hidden"]);
    let on = |datastore| ModuleFilter { datastore: Some(datastore), ..ModuleFilter::default() };
    assert_eq!(listed(on(Some("mysql".to_owned()))).await, ["all"]);
    assert_eq!(listed(on(Some("x\0".to_owned()))).await, Vec::<String>::new());
    assert_eq!(listed(on(None)).await, ["own", "others", "hidden"]);
    let uuids = Some(vec!["all".to_owned(), "nonesuch".to_owned(), "own".to_owned()]);
    assert_eq!(listed(ModuleFilter { uuids, ..all }).await, ["own", "all"]);
    commit(writing).await;
}

fn item(uuid: &str) -> ModuleItem {
    ModuleItem { uuid: uuid.to_owned(), body: body(uuid, None), contents: sealed("k1", uuid.as_bytes()) }
}

async fn underway(
    writing: &mut WriteTransaction,
    uuid: &str,
    node_id: NodeId,
    items: Vec<ModuleItem>,
) -> ModuleRun {
    let run = run(writing, uuid).await;
    let underway = ModuleRun {
        run_id: run.id,
        node_id,
        action: ModuleAction::Apply,
        after: Some(RunId(4711)),
        deadline: Some(Micros(9)),
        items,
    };
    writing.module_run_create(&underway).await.unwrap();
    underway
}

async fn one_module_run_per_node_at_a_time(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (seven, eight) =
        (node(&mut writing, "52:54:00:00:00:07").await, node(&mut writing, "52:54:00:00:00:08").await);
    let items: Vec<ModuleItem> = (0..45).map(|number| item(&format!("m{number}"))).collect();
    let first = underway(&mut writing, "r1", seven.id, items).await;
    let second = underway(&mut writing, "r2", seven.id, Vec::new()).await;
    let elsewhere = underway(&mut writing, "r3", eight.id, vec![item("x")]).await;
    assert_eq!(writing.module_run(first.run_id).await.unwrap(), Some(first.clone()));
    assert_eq!(writing.module_run(RunId(99)).await.unwrap(), None);
    assert_eq!(writing.module_runs_of_node(seven.id).await.unwrap(), [first.run_id, second.run_id]);
    assert!(
        !writing.module_run_try_acquire_node(second.run_id, seven.id).await.unwrap(),
        "the first run is ahead in the queue"
    );
    assert!(writing.module_run_try_acquire_node(first.run_id, seven.id).await.unwrap());
    assert!(
        writing.module_run_try_acquire_node(first.run_id, seven.id).await.unwrap(),
        "idempotent for the current run"
    );
    assert!(writing.module_run_try_acquire_node(elsewhere.run_id, eight.id).await.unwrap());
    assert!(!writing.module_run_try_acquire_node(second.run_id, seven.id).await.unwrap());
    commit(writing).await;
    let mut writing = fixture.change().await;
    assert!(writing.module_run_delete(first.run_id).await.unwrap());
    assert!(!writing.module_run_delete(first.run_id).await.unwrap());
    assert!(writing.module_run_try_acquire_node(second.run_id, seven.id).await.unwrap());
    // A run that ended without deleting its record does not block the node.
    let third = underway(&mut writing, "r4", seven.id, Vec::new()).await;
    let mut ended = writing.run_get(second.run_id).await.unwrap().unwrap();
    ended.status = RunStatus::Error;
    writing.run_update(&ended).await.unwrap();
    assert_eq!(writing.module_runs_of_node(seven.id).await.unwrap(), [third.run_id]);
    assert!(writing.module_run_try_acquire_node(third.run_id, seven.id).await.unwrap());
    assert!(writing.node_delete(eight.id).await.unwrap());
    commit(writing).await;
    assert_eq!(n_rows(fixture, "module_run_items").await, 0);
}

async fn module_run_requires_run_and_node(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let seven = node(&mut writing, "52:54:00:00:00:07").await;
    let dangling = ModuleRun {
        run_id: RunId(99),
        node_id: seven.id,
        action: ModuleAction::Remove,
        after: None,
        deadline: None,
        items: Vec::new(),
    };
    assert_error!(writing.module_run_create(&dangling).await, StoreError::NotFound { what: "run" });
    let run = run(&mut writing, "r1").await;
    let missing = ModuleRun { run_id: run.id, node_id: NodeId(99), ..dangling };
    assert_error!(writing.module_run_create(&missing).await, StoreError::NotFound { what: "node" });
    commit(writing).await;
}

fn applied(node: &Node, cluster: &Cluster, uuid: &str, updated_at: i64) -> NodeModule {
    NodeModule {
        node_id: node.id,
        cluster_id: cluster.id,
        uuid: uuid.to_owned(),
        body: body(uuid, None),
        status: ModuleStatus::Ok,
        message: Some("hi".to_owned()),
        created_at: Micros(1),
        updated_at: Micros(updated_at),
        removed_at: None,
        contents: sealed("k1", b"c"),
    }
}

async fn member(writing: &mut WriteTransaction, mac: &str, cluster: &Cluster) -> Node {
    let mut member = node(writing, mac).await;
    member.join_cluster(cluster.id);
    writing.node_update(&member).await.unwrap()
}

async fn one_result_per_node_and_module(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let home = cluster(&mut writing, "home").await;
    let seven = member(&mut writing, "52:54:00:00:00:07", &home).await;
    let eight = member(&mut writing, "52:54:00:00:00:08", &home).await;
    for result in
        [applied(&seven, &home, "a", 5), applied(&seven, &home, "b", 6), applied(&eight, &home, "a", 7)]
    {
        writing.node_module_put(&result).await.unwrap();
    }
    let again = NodeModule {
        status: ModuleStatus::Error,
        message: None,
        updated_at: Micros(9),
        ..applied(&seven, &home, "a", 9)
    };
    writing.node_module_put(&again).await.unwrap();
    assert_eq!(
        writing.node_modules(seven.id).await.unwrap(),
        [again.clone(), applied(&seven, &home, "b", 6)]
    );
    assert_eq!(writing.module_nodes("a").await.unwrap(), [again.clone(), applied(&eight, &home, "a", 7)]);
    let removed = NodeModule { removed_at: Some(Micros(10)), ..again };
    writing.node_module_put(&removed).await.unwrap();
    assert_eq!(writing.module_nodes("a").await.unwrap().len(), 1);
    assert_eq!(writing.node_modules(seven.id).await.unwrap()[0], removed);
    assert_eq!(writing.module_nodes("\0").await.unwrap(), []);
    let missing = NodeModule { node_id: NodeId(99), ..removed };
    assert_error!(writing.node_module_put(&missing).await, StoreError::NotFound { what: "node" });
    commit(writing).await;
}

async fn leaving_cluster_deletes_applied_modules(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let home = cluster(&mut writing, "home").await;
    let mut seven = member(&mut writing, "52:54:00:00:00:07", &home).await;
    writing.node_module_put(&applied(&seven, &home, "a", 5)).await.unwrap();
    seven = writing.node_update(&seven).await.unwrap();
    assert_eq!(writing.node_modules(seven.id).await.unwrap().len(), 1);
    seven.leave_cluster();
    writing.node_update(&seven).await.unwrap();
    assert_eq!(writing.node_modules(seven.id).await.unwrap(), []);
    commit(writing).await;
}

async fn all_encrypted_values_can_be_reencrypted(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let home = cluster(&mut writing, "home").await;
    let seven = member(&mut writing, "52:54:00:00:00:07", &home).await;
    let created = module(&mut writing, "u1", &body("a", None)).await;
    let underway = underway(&mut writing, "r1", seven.id, vec![item("x"), item("y")]).await;
    writing.node_module_put(&applied(&seven, &home, "a", 5)).await.unwrap();
    let removed = NodeModule { contents: sealed("k0", b""), ..applied(&seven, &home, "gone", 5) };
    writing.node_module_put(&removed).await.unwrap();
    assert_eq!(writing.encrypted_with_other_key("k1").await.unwrap(), []);
    let values = writing.encrypted_with_other_key("k2").await.unwrap();
    let places: Vec<EncryptedLocation> = values.iter().map(|(place, _)| place.clone()).collect();
    let expected = [
        EncryptedLocation::Module(created.id),
        EncryptedLocation::ModuleRunItem(underway.run_id, 0),
        EncryptedLocation::ModuleRunItem(underway.run_id, 1),
        EncryptedLocation::NodeModule(seven.id, "a".to_owned()),
    ];
    assert_eq!(places, expected);
    for (place, value) in &values {
        writing.encrypted_put(place, &sealed("k2", &value.bytes)).await.unwrap();
    }
    assert_eq!(writing.encrypted_with_other_key("k2").await.unwrap(), []);
    assert_eq!(writing.encrypted_with_other_key("k1").await.unwrap().len(), 4);
    let dangling = writing.encrypted_put(&EncryptedLocation::Module(ModuleId(99)), &sealed("k", b"")).await;
    assert_error!(dangling, StoreError::NotFound { what: "module" });
    commit(writing).await;
}

on_both![
    all_encrypted_values_can_be_reencrypted,
    duplicate_modules_are_rejected,
    leaving_cluster_deletes_applied_modules,
    list_filters,
    module_run_requires_run_and_node,
    modules_are_stored_with_contents,
    one_module_run_per_node_at_a_time,
    one_result_per_node_and_module,
];
