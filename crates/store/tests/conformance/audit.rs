use serde_json::json;
use stoker_model::{Actor, AuditChange, Micros, UserId};
use stoker_store::{AuditFilter, List, SortOrder};

use crate::fixture::{Fixture, NOW, new_node, tenant};

async fn write(fixture: &Fixture, user: Option<i64>, at: i64, action: &'static str, target: &str) {
    let actor = Actor {
        user_id: user.map(UserId),
        user_name: "alice".to_owned(),
        address: Some("192.0.2.7".to_owned()),
    };
    let writing = fixture.store.begin_write(&actor, Micros(at)).await.unwrap();
    assert_eq!((writing.now(), writing.actor()), (Micros(at), &actor));
    let change = AuditChange { action, target: target.to_owned(), detail: json!({"at": at}) };
    writing.commit(change).await.unwrap();
}

async fn entries_are_newest_first_and_filtered(fixture: &Fixture) {
    let before = fixture.read().await.audit_last().await.unwrap();
    assert_eq!(fixture.read().await.audit_last().await.unwrap(), before);
    write(fixture, Some(1), 10, "graph.create", "graph 1").await;
    let after = fixture.read().await.audit_last().await.unwrap();
    assert!(after > before, "{after:?} {before:?}");
    write(fixture, Some(2), 20, "graph.update", "graph 1").await;
    write(fixture, None, 30, "graphics.update", "graph 12").await;
    write(fixture, Some(2), 40, "user.create", "user 2").await;
    let mut session = fixture.read().await;
    let mut times = async |filter: AuditFilter| {
        let page = session.audit_list(&filter, &List::default()).await.unwrap();
        page.items.iter().map(|entry| entry.at.0).collect::<Vec<_>>()
    };
    let none = AuditFilter::default;
    assert_eq!(times(none()).await, [40, 30, 20, 10]);
    assert_eq!(times(AuditFilter { user_id: Some(UserId(2)), ..none() }).await, [40, 20]);
    assert_eq!(times(AuditFilter { action: Some("graph.".to_owned()), ..none() }).await, [20, 10]);
    assert!(times(AuditFilter { action: Some("%".to_owned()), ..none() }).await.is_empty());
    assert_eq!(times(AuditFilter { action: Some(String::new()), ..none() }).await.len(), 4);
    assert_eq!(times(AuditFilter { target: Some("graph 1".to_owned()), ..none() }).await, [20, 10]);
    let since = Some(Micros(20));
    assert_eq!(times(AuditFilter { since, until: Some(Micros(40)), ..none() }).await, [30, 20]);
    let order_by = vec![SortOrder { field: "at".to_owned(), descending: false }];
    let list = List { limit: Some(1), offset: 1, order_by };
    let page = session.audit_list(&none(), &list).await.unwrap();
    assert_eq!((page.items[0].at, page.total), (Micros(20), 4));
    let entry = &page.items[0];
    assert_eq!(entry.user_name, "alice");
    assert_eq!(entry.address.as_deref(), Some("192.0.2.7"));
    assert_eq!(entry.detail, json!({"at": 20}));
}

async fn change_and_audit_entry_are_atomic(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    tenant(&mut writing, "red").await;
    drop(writing);
    let mut writing = fixture.change().await;
    tenant(&mut writing, "blue").await;
    // If the audit entry cannot be stored, the change is rolled back.
    let bad = AuditChange { action: "tenant.create", target: "NUL \0".to_owned(), detail: json!({}) };
    assert!(writing.commit(bad).await.is_err());
    let mut session = fixture.read().await;
    assert_eq!(session.tenant_list(&List::default()).await.unwrap().total, 0);
    assert_eq!(session.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total, 0);
}

/// A failing savepoint does not affect the others.
async fn group_commit_rolls_back_savepoints_independently(fixture: &Fixture) {
    let mut together = fixture.store.group_commit(NOW).await.unwrap();
    for (name, address, is_kept) in
        [("red", "192.0.2.1", true), ("blue", "192.0.2.2", false), ("green", "192.0.2.3", true)]
    {
        let actor = Actor { user_id: None, user_name: name.to_owned(), address: Some(address.to_owned()) };
        let writing = together.begin_savepoint(actor).await.unwrap();
        tenant(writing, name).await;
        if is_kept {
            let change =
                AuditChange { action: "tenant.create", target: format!("tenant {name}"), detail: json!({}) };
            together.release_savepoint(&[change]).await.unwrap();
        } else {
            assert!(writing.node_create(&new_node("NUL \0")).await.is_err());
            together.rollback_savepoint().await.unwrap();
        }
    }
    together.commit().await.unwrap();
    let mut session = fixture.read().await;
    let mut names: Vec<String> =
        session.tenant_list(&List::default()).await.unwrap().items.into_iter().map(|it| it.name).collect();
    names.sort();
    assert_eq!(names, ["green", "red"]);
    let entries = session.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().items;
    let actors: Vec<(&str, Option<&str>)> =
        entries.iter().map(|entry| (entry.user_name.as_str(), entry.address.as_deref())).collect();
    assert_eq!(actors, [("green", Some("192.0.2.3")), ("red", Some("192.0.2.1"))]);
}

on_both![
    change_and_audit_entry_are_atomic,
    entries_are_newest_first_and_filtered,
    group_commit_rolls_back_savepoints_independently,
];
