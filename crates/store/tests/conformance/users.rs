use stoker_model::{NewUser, Role, Tenant, TenantId, User, UserId};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, NOW, cluster, commit, tenant, user};

async fn tenants_round_trip_and_names_are_unique(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (red, blue) = (tenant(&mut writing, "red").await, tenant(&mut writing, "blue").await);
    assert_eq!((red.generation, red.created_at), (1, NOW));
    let again = stoker_model::NewTenant { name: "red".to_owned(), description: None, enabled: true };
    assert_error!(writing.tenant_create(&again).await, StoreError::AlreadyExists { what: "tenant name" });
    let clash = Tenant { name: "red".to_owned(), ..blue.clone() };
    assert_error!(writing.tenant_update(&clash).await, StoreError::AlreadyExists { .. });
    let changed = Tenant { description: None, enabled: false, name: "green".to_owned(), ..blue.clone() };
    let changed = writing.tenant_update(&changed).await.unwrap();
    assert_error!(writing.tenant_update(&blue).await, StoreError::Stale { current: 2 });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.tenant_get(blue.id).await.unwrap().as_ref(), Some(&changed));
    assert_eq!(session.tenant_by_name("green").await.unwrap(), Some(changed.clone()));
    assert_eq!(session.tenant_by_name("blue").await.unwrap(), None);
    assert_eq!(session.tenant_by_name("gre\0en").await.unwrap(), None);
    assert_eq!(session.tenant_list(&List::default()).await.unwrap().items, [red, changed]);
}

async fn tenant_in_use_cannot_be_deleted(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owner = cluster(&mut writing, "c").await.tenant_id;
    let red = tenant(&mut writing, "red").await;
    let alice = user(&mut writing, &red, "alice").await;
    assert_error!(writing.tenant_delete(owner).await, StoreError::Referenced { what: "cluster" });
    assert_error!(writing.tenant_delete(red.id).await, StoreError::Referenced { what: "user" });
    assert!(writing.user_delete(alice.id).await.unwrap());
    assert!(writing.tenant_delete(red.id).await.unwrap());
    assert!(!writing.tenant_delete(red.id).await.unwrap());
    commit(writing).await;
}

async fn users_round_trip_without_password_hash(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let red = tenant(&mut writing, "red").await;
    let alice = user(&mut writing, &red, "alice").await;
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.user_get(alice.id).await.unwrap().as_ref(), Some(&alice));
    assert_eq!(session.user_by_name("alice").await.unwrap().as_ref(), Some(&alice));
    assert_eq!(session.user_by_name("Alice").await.unwrap(), None);
    assert_eq!(session.user_by_name(&"a".repeat(1_000_000)).await.unwrap(), None);
    assert_eq!(session.user_list(&List::default()).await.unwrap().items, std::slice::from_ref(&alice));
    let hash = session.user_password_hash(alice.id).await.unwrap();
    assert_eq!(hash.as_deref(), Some("$argon2id$secret"));
    assert_eq!(session.user_password_hash(UserId(99)).await.unwrap(), None);
    assert!(!format!("{alice:?}").contains("secret"));
}

async fn user_updates(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (red, blue) = (tenant(&mut writing, "red").await, tenant(&mut writing, "blue").await);
    let (alice, bob) = (user(&mut writing, &red, "alice").await, user(&mut writing, &red, "bob").await);
    let clash = User { name: "alice".to_owned(), ..bob.clone() };
    assert_error!(writing.user_update(&clash).await, StoreError::AlreadyExists { what: "user name" });
    let lost = User { tenant_id: TenantId(99), ..bob.clone() };
    assert_error!(writing.user_update(&lost).await, StoreError::NotFound { what: "tenant" });
    let changed =
        User { tenant_id: blue.id, roles: vec![], enabled: false, name: "bert".to_owned(), ..bob.clone() };
    let changed = writing.user_update(&changed).await.unwrap();
    assert_error!(writing.user_update(&bob).await, StoreError::Stale { current: 2 });
    writing.user_set_password(alice.id, "new").await.unwrap();
    assert_error!(writing.user_update(&alice).await, StoreError::Stale { current: 2 });
    let missing = writing.user_set_password(UserId(99), "new").await;
    assert_error!(missing, StoreError::NotFound { what: "user" });
    let again = NewUser {
        tenant_id: red.id,
        name: "alice".to_owned(),
        roles: vec![Role::Admin],
        enabled: true,
        password_hash: String::new(),
    };
    assert_error!(writing.user_create(&again).await, StoreError::AlreadyExists { what: "user name" });
    let orphan = NewUser { tenant_id: TenantId(99), name: "carl".to_owned(), ..again };
    assert_error!(writing.user_create(&orphan).await, StoreError::NotFound { what: "tenant" });
    commit(writing).await;
    let mut session = fixture.read().await;
    assert_eq!(session.user_get(bob.id).await.unwrap(), Some(changed));
    assert_eq!(session.user_password_hash(alice.id).await.unwrap().as_deref(), Some("new"));
    assert_eq!(session.user_password_hash(bob.id).await.unwrap().as_deref(), Some("$argon2id$secret"));
}

on_both![
    tenant_in_use_cannot_be_deleted,
    tenants_round_trip_and_names_are_unique,
    user_updates,
    users_round_trip_without_password_hash,
];
