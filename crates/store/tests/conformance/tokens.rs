use stoker_model::{Micros, NewToken, TenantId, TokenId, UserId};
use stoker_store::{AuditFilter, List, StoreError};

use crate::fixture::{Fixture, commit, tenant, user};

fn new_token(user_id: UserId, tenant_id: TenantId, digest: u8) -> NewToken {
    NewToken {
        user_id,
        tenant_id,
        label: Some(format!("token {digest}")),
        digest: [digest; 32],
        issued_at: Micros(10),
        expires_at: Micros(100 + i64::from(digest)),
    }
}

async fn token_lookup_returns_user_and_tenant(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (home, guest) = (tenant(&mut writing, "home").await, tenant(&mut writing, "guest").await);
    let alice = user(&mut writing, &home, "alice").await;
    commit(writing).await;
    // Issued for a tenant other than the user's.
    let token = fixture.store.token_issue(&new_token(alice.id, guest.id, 0xab)).await.unwrap();
    let mut session = fixture.read().await;
    let token_owner = session.token_find(&[0xab; 32]).await.unwrap();
    assert_eq!(token_owner, Some((token.clone(), alice, guest)));
    assert_eq!(session.token_find(&[0xac; 32]).await.unwrap(), None);
    assert_eq!(session.token_get(token.id).await.unwrap(), Some(token));
    assert_eq!(session.token_get(TokenId(99)).await.unwrap(), None);
}

async fn logins_are_not_audited(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let home = tenant(&mut writing, "home").await;
    let alice = user(&mut writing, &home, "alice").await;
    commit(writing).await;
    for digest in 0..5 {
        fixture.store.token_issue(&new_token(alice.id, home.id, digest)).await.unwrap();
    }
    let again = fixture.store.token_issue(&new_token(alice.id, home.id, 4)).await;
    assert_error!(again, StoreError::AlreadyExists { what: "token" });
    let missing = fixture.store.token_issue(&new_token(UserId(99), home.id, 9)).await;
    assert_error!(missing, StoreError::NotFound { what: "user" });
    let dangling = fixture.store.token_issue(&new_token(alice.id, TenantId(99), 9)).await;
    assert_error!(dangling, StoreError::NotFound { what: "tenant" });
    let log = fixture.read().await.audit_list(&AuditFilter::default(), &List::default()).await.unwrap();
    assert_eq!(log.total, 1);
}

async fn token_deletion_by_id_user_and_expiry(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let home = tenant(&mut writing, "home").await;
    let (alice, bob) = (user(&mut writing, &home, "alice").await, user(&mut writing, &home, "bob").await);
    let mut tokens = Vec::new();
    for digest in 0..4 {
        tokens.push(writing.token_create(&new_token(alice.id, home.id, digest)).await.unwrap());
    }
    for digest in 4..7 {
        tokens.push(writing.token_create(&new_token(bob.id, home.id, digest)).await.unwrap());
    }
    let listed = writing.token_list(Some(bob.id), &List::default()).await.unwrap();
    assert_eq!(listed.items, tokens[4..]);
    assert_eq!(writing.token_list(None, &List::default()).await.unwrap().total, 7);
    assert!(writing.token_delete(tokens[3].id).await.unwrap());
    assert!(!writing.token_delete(tokens[3].id).await.unwrap());
    // The bound is exclusive: tokens that expire at that instant remain.
    assert_eq!(writing.tokens_purge(Micros(102)).await.unwrap(), 2);
    assert_eq!(writing.tokens_delete_of_user(alice.id).await.unwrap(), 1);
    assert!(writing.user_delete(bob.id).await.unwrap());
    assert_eq!(writing.token_list(None, &List::default()).await.unwrap().total, 0);
    commit(writing).await;
}

on_both![logins_are_not_audited, token_deletion_by_id_user_and_expiry, token_lookup_returns_user_and_tenant,];
