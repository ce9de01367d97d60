use stoker_model::{AgentId, JoinTokenId, Micros, NewAgent, NewAgentCertificate, NewJoinToken, NodeId};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, NOW, commit, n_rows, node};

pub(crate) fn new_agent(uid: &str, node_id: Option<NodeId>, digest: u8) -> NewAgent {
    NewAgent { uid: uid.into(), node_id, digest: [digest; 32], version: "0.1.0".to_owned(), joined_at: NOW }
}

fn new_token(digest: u8, uses_left: Option<i64>, expires_at: Micros) -> NewJoinToken {
    let may_replace = uses_left.is_some();
    NewJoinToken { label: None, digest: [digest; 32], uses_left, may_replace, created_at: NOW, expires_at }
}

async fn replacing_agent_revokes_its_credential(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let seven = node(&mut writing, "52:54:00:00:00:07").await;
    let uid = seven.id.to_string();
    let first = writing.agent_put(&new_agent(&uid, Some(seven.id), 1)).await.unwrap();
    let master = writing.agent_put(&new_agent("master", None, 9)).await.unwrap();
    assert_eq!(writing.agent_find(&[1; 32]).await.unwrap(), Some(first.clone()));
    let second = writing.agent_put(&new_agent(&uid, Some(seven.id), 2)).await.unwrap();
    assert_eq!(second.id, first.id);
    assert_eq!(writing.agent_find(&[1; 32]).await.unwrap(), None);
    assert_eq!(writing.agent_find(&[2; 32]).await.unwrap(), Some(second.clone()));
    assert_eq!(
        writing.agent_digest(&seven.id.into()).await.unwrap().as_deref(),
        Some("02".repeat(32).as_str())
    );
    assert_eq!(writing.agent_digest(&"unknown".into()).await.unwrap(), None);
    let listed = writing.agent_list(None, &List::default()).await.unwrap();
    assert_eq!(listed.items, [second, master.clone()]);
    let dangling = writing.agent_put(&new_agent("99", Some(NodeId(99)), 3)).await;
    assert_error!(dangling, StoreError::NotFound { what: "node" });
    assert!(writing.agent_delete(master.id).await.unwrap());
    assert!(!writing.agent_delete(master.id).await.unwrap());
    assert_eq!(writing.agent_get(AgentId(99)).await.unwrap(), None);
    commit(writing).await;
}

async fn deleting_node_deletes_its_agent(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let seven = node(&mut writing, "52:54:00:00:00:07").await;
    writing.agent_put(&new_agent(&seven.id.to_string(), Some(seven.id), 1)).await.unwrap();
    assert!(writing.node_delete(seven.id).await.unwrap());
    commit(writing).await;
    assert_eq!(n_rows(fixture, "agents").await, 0);
}

async fn last_seen_is_updated_in_bulk(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    for (uid, digest) in [("a", 1), ("b", 2), ("c", 3)] {
        writing.agent_put(&new_agent(uid, None, digest)).await.unwrap();
    }
    commit(writing).await;
    let later = NOW.plus_seconds(5);
    fixture.store.agents_touch(&["a".into(), "c".into(), "unknown".into()], later).await.unwrap();
    let last_seen: Vec<Option<Micros>> = fixture
        .read()
        .await
        .agent_list(None, &List::default())
        .await
        .unwrap()
        .items
        .iter()
        .map(|agent| agent.last_seen_at)
        .collect();
    assert_eq!(last_seen, [Some(later), None, Some(later)]);
}

async fn join_token_expires_by_time_or_uses(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let later = NOW.plus_seconds(60);
    let twice = writing.join_token_create(&new_token(1, Some(2), later)).await.unwrap();
    let often = writing.join_token_create(&new_token(2, None, later)).await.unwrap();
    writing.join_token_create(&new_token(3, None, NOW)).await.unwrap();
    assert_error!(
        writing.join_token_create(&new_token(2, None, later)).await,
        StoreError::AlreadyExists { what: "join token" }
    );
    let mut uses = Vec::new();
    for digest in [1, 1, 1, 2, 2, 3, 4] {
        uses.push(writing.join_token_use(&[digest; 32]).await.unwrap());
    }
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(uses, [yes, yes, None, no, no, None, None]);
    let token = writing.join_token_get(twice.id).await.unwrap().unwrap();
    assert_eq!(token.uses_left, Some(0));
    assert_eq!(writing.join_token_list(&List::default()).await.unwrap().total, 3);
    assert!(writing.join_token_delete(often.id).await.unwrap());
    assert!(!writing.join_token_delete(JoinTokenId(99)).await.unwrap());
    assert_eq!(writing.join_token_use(&[2; 32]).await.unwrap(), None);
    commit(writing).await;
}

fn certificate(agent_id: AgentId, fingerprint: u8, issued: i64, expires: i64) -> NewAgentCertificate {
    NewAgentCertificate {
        agent_id,
        fingerprint: [fingerprint; 32],
        serial: format!("{fingerprint:02x}"),
        issued_at: NOW.plus_seconds(issued),
        expires_at: NOW.plus_seconds(expires),
    }
}

async fn certificates_expire_or_are_superseded(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let agent = writing.agent_put(&new_agent("master", None, 1)).await.unwrap().id;
    let other = writing.agent_put(&new_agent("other", None, 2)).await.unwrap().id;
    assert_eq!(writing.agent_certificate_expiry(agent).await.unwrap(), None);
    for (fingerprint, issued, expires) in [(1, 0, 10), (2, 1, 100), (3, 2, 100)] {
        writing.agent_certificate_add(&certificate(agent, fingerprint, issued, expires)).await.unwrap();
    }
    let mut is_valid = async |fingerprint: u8, seconds: i64| {
        let at = NOW.plus_seconds(seconds);
        writing.agent_certificate_is_valid(agent, &[fingerprint; 32], at).await.unwrap()
    };
    assert!(is_valid(1, 9).await && !is_valid(1, 10).await, "valid until it expires");
    assert!(is_valid(2, 9).await && is_valid(3, 9).await && !is_valid(4, 9).await);
    assert!(
        !writing.agent_certificate_is_valid(other, &[3; 32], NOW).await.unwrap(),
        "belongs to another agent"
    );
    assert_eq!(writing.agent_certificate_expiry(agent).await.unwrap(), Some(NOW.plus_seconds(100)));
    // A fourth certificate revokes the oldest certificate and the expired ones.
    writing.agent_certificate_add(&certificate(agent, 4, 3, 100)).await.unwrap();
    assert!(!writing.agent_certificate_is_valid(agent, &[1; 32], NOW).await.unwrap());
    writing.agent_certificate_add(&certificate(agent, 5, 200, 300)).await.unwrap();
    assert_eq!(n_valid(&mut writing, agent).await, 1);
    let missing = writing.agent_certificate_add(&certificate(AgentId(99), 9, 0, 1)).await;
    assert!(missing.is_err());
}

async fn n_valid(writing: &mut stoker_store::WriteTransaction, agent: AgentId) -> usize {
    let mut n = 0;
    for fingerprint in 1..=9 {
        n += usize::from(writing.agent_certificate_is_valid(agent, &[fingerprint; 32], NOW).await.unwrap());
    }
    n
}

async fn replacing_credential_revokes_certificates(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let agent = writing.agent_put(&new_agent("master", None, 1)).await.unwrap().id;
    writing.agent_certificate_add(&certificate(agent, 1, 0, 100)).await.unwrap();
    // Rejoining keeps the agent id and replaces the credential.
    assert_eq!(writing.agent_put(&new_agent("master", None, 2)).await.unwrap().id, agent);
    assert_eq!(n_valid(&mut writing, agent).await, 0);
    assert_eq!(writing.agents_revoked(&[[1; 32], [2; 32]]).await.unwrap(), [[1; 32]]);
    writing.agent_certificate_add(&certificate(agent, 2, 0, 100)).await.unwrap();
    writing.agent_delete(agent).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "agent_certificates").await, 0);
}

async fn revoked_node_has_no_agent_until_readmitted(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let seven = node(&mut writing, "52:54:00:00:00:07").await;
    let eight = node(&mut writing, "52:54:00:00:00:08").await;
    for (owner, digest) in [(&seven, 1), (&eight, 2)] {
        writing.agent_put(&new_agent(&owner.id.to_string(), Some(owner.id), digest)).await.unwrap();
    }
    writing.node_revoke(seven.id).await.unwrap();
    writing.node_revoke(seven.id).await.unwrap();
    assert!(writing.node_is_revoked(seven.id).await.unwrap());
    assert!(!writing.node_is_revoked(eight.id).await.unwrap());
    assert_eq!(writing.agent_find(&[1; 32]).await.unwrap(), None);
    assert!(writing.agent_find(&[2; 32]).await.unwrap().is_some());
    writing.node_readmit(seven.id).await.unwrap();
    assert!(!writing.node_is_revoked(seven.id).await.unwrap());
    writing.node_revoke(eight.id).await.unwrap();
    writing.node_delete(eight.id).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "node_revocations").await, 0);
}

on_both![
    certificates_expire_or_are_superseded,
    deleting_node_deletes_its_agent,
    join_token_expires_by_time_or_uses,
    last_seen_is_updated_in_bulk,
    replacing_agent_revokes_its_credential,
    replacing_credential_revokes_certificates,
    revoked_node_has_no_agent_until_readmitted,
];
