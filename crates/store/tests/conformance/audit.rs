use serde_json::json;
use stoker_model::{Actor, Change, Micros, UserId};
use stoker_store::{AuditFilter, List, Order};

use crate::ground::{Ground, tenant};

async fn write(ground: &Ground, user: Option<i64>, at: i64, action: &'static str, target: &str) {
    let actor = Actor {
        user_id: user.map(UserId),
        user_name: "alice".to_owned(),
        address: Some("192.0.2.7".to_owned()),
    };
    let writing = ground.store.change(&actor, Micros(at)).await.unwrap();
    assert_eq!((writing.now(), writing.actor()), (Micros(at), &actor));
    let change = Change { action, target: target.to_owned(), detail: json!({"at": at}) };
    writing.commit(change).await.unwrap();
}

async fn entries_come_newest_first_and_are_narrowed(ground: &Ground) {
    write(ground, Some(1), 10, "graph.create", "graph 1").await;
    write(ground, Some(2), 20, "graph.update", "graph 1").await;
    write(ground, None, 30, "graphics.update", "graph 12").await;
    write(ground, Some(2), 40, "user.create", "user 2").await;
    let mut session = ground.read().await;
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
    let order_by = vec![Order { field: "at".to_owned(), descending: false }];
    let list = List { limit: Some(1), offset: 1, order_by };
    let page = session.audit_list(&none(), &list).await.unwrap();
    assert_eq!((page.items[0].at, page.total), (Micros(20), 4));
    let entry = &page.items[0];
    assert_eq!(entry.user_name, "alice");
    assert_eq!(entry.address.as_deref(), Some("192.0.2.7"));
    assert_eq!(entry.detail, json!({"at": 20}));
}

async fn a_change_and_its_entry_come_and_go_together(ground: &Ground) {
    let mut writing = ground.change().await;
    tenant(&mut writing, "red").await;
    drop(writing);
    let mut writing = ground.change().await;
    tenant(&mut writing, "blue").await;
    // An entry that cannot be stored takes the change with it.
    let bad = Change { action: "tenant.create", target: "NUL \0".to_owned(), detail: json!({}) };
    assert!(writing.commit(bad).await.is_err());
    let mut session = ground.read().await;
    assert_eq!(session.tenant_list(&List::default()).await.unwrap().total, 0);
    assert_eq!(session.audit_list(&AuditFilter::default(), &List::default()).await.unwrap().total, 0);
}

on_both![a_change_and_its_entry_come_and_go_together, entries_come_newest_first_and_are_narrowed];
