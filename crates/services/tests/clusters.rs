//! Creation, settings and deletion of clusters.

use serde_json::json;
use stoker_model::codes;
use stoker_model::{
    AuditChange, GraphMetadata, GraphType, Json, Micros, NewRelease, NewRun, Owner, Quotas, ReleaseId,
    ReleaseState, RunName, RunStatus, Task,
};
use stoker_services::ServiceError;
use stoker_services::cluster_settings::{settings_reset, settings_update};
use stoker_services::clusters::{
    ClusterRequest, cluster_create, cluster_delete, cluster_reset, release_preview,
};
use stoker_services::metadata::embedded_graphs::EmbeddedGraphs;
use stoker_services::precondition::Precondition;
use stoker_services::releases::release_create;
use stoker_settings::Server;
use stoker_store::{ClusterFilter, List};

use crate::support::{Fixture, invalid, map, release};

#[tokio::test]
async fn invalid_requests_create_no_cluster() {
    let fixture = Fixture::new().await;
    let create = async |request| cluster_create(&fixture.settings, fixture.change().await, request).await;
    let unknown = ClusterRequest { release_id: ReleaseId(99), ..fixture.request("a") };
    assert_eq!(invalid(create(unknown).await.unwrap_err()).message, "Invalid release ID");
    let mode = ClusterRequest { mode: Some("multinode".to_owned()), ..fixture.request("a") };
    assert!(invalid(create(mode).await.unwrap_err()).message.starts_with("Cannot deploy in multinode mode"));
    let both = vec!["hypervisor:kvm".to_owned(), "hypervisor:xen".to_owned()];
    let selection = ClusterRequest { components: Some(both), ..fixture.request("a") };
    let report = invalid(create(selection).await.unwrap_err());
    assert_eq!(report.diagnostics[0].location.path, "components");
    assert!(!report.conflicts.is_empty());
    let mut session = fixture.store.read().await.unwrap();
    assert_eq!(session.cluster_list(&ClusterFilter::default(), &List::default()).await.unwrap().total, 0);
}

#[tokio::test]
async fn unavailable_releases_are_forbidden() {
    let fixture = Fixture::new().await;
    let mut release = fixture.release.clone();
    release.body.state = ReleaseState::Unavailable;
    let mut writing = fixture.change().await;
    writing.release_update(&release).await.unwrap();
    let error = cluster_create(&fixture.settings, writing, fixture.request("a")).await.unwrap_err();
    assert!(matches!(error, ServiceError::Forbidden(_)), "{error:?}");
}

#[tokio::test]
async fn cluster_starts_with_settings_graph_and_components() {
    let fixture = Fixture::new().await;
    let components = Some(vec!["hypervisor:kvm".to_owned()]);
    let request = ClusterRequest { components, ..fixture.request("a") };
    let (cluster, tenant) = cluster_create(&fixture.settings, fixture.change().await, request).await.unwrap();
    assert_eq!((cluster.mode.as_str(), tenant.name.as_str()), ("ha_compact", "blue"));
    assert_eq!(cluster.components, ["hypervisor:kvm"]);
    assert_eq!(cluster.editable["common"]["debug"]["value"], json!(false));
    assert_eq!(cluster.generated["key"]["value"].as_str().unwrap().len(), 24, "a generated password");
    assert_eq!(cluster.extensions, ["volume_manager"]);
    let mut session = fixture.store.read().await.unwrap();
    let graph = session.graph_find(Owner::Cluster(cluster.id), &GraphType::default()).await.unwrap();
    assert!(graph.unwrap().tasks.is_empty());
    let error = cluster_create(&fixture.settings, fixture.change().await, fixture.request("a")).await;
    assert!(matches!(error, Err(ServiceError::Conflict(_))), "the name is taken");
}

#[tokio::test]
async fn quota_limits_the_number_of_clusters() {
    let fixture = Fixture::new().await;
    let mut settings: Server = fixture.settings.clone();
    settings.limits.quotas = Quotas { clusters: Some(1), ..Quotas::default() };
    cluster_create(&settings, fixture.change().await, fixture.request("a")).await.unwrap();
    let error = cluster_create(&settings, fixture.change().await, fixture.request("b")).await.unwrap_err();
    let ServiceError::Conflict(report) = error else { panic!("{error:?}") };
    assert!(report.message.starts_with("quota exceeded: tenant `blue` may have 1 cluster"), "{report}");
}

#[tokio::test]
async fn settings_change_as_a_whole_or_not_at_all() {
    let fixture = Fixture::new().await;
    let (cluster, _) =
        cluster_create(&fixture.settings, fixture.change().await, fixture.request("a")).await.unwrap();
    let submit = async |cluster, submitted: Json, precondition, force| {
        settings_update(
            &fixture.settings,
            fixture.change().await,
            cluster,
            &precondition,
            map(submitted),
            force,
        )
        .await
    };
    let valid = json!({"common": {"debug": {"value": true}}});
    let stale = Precondition::Versions(vec!["0".to_owned()]);
    let error = submit(cluster.clone(), valid.clone(), stale, false).await.err().unwrap();
    assert!(matches!(error, ServiceError::Stale { .. }), "{error:?}");
    let wrong = json!({"common": {"debug": {"value": true}, "puppet_debug": {"value": "yes"}}});
    let report = invalid(submit(cluster.clone(), wrong, Precondition::Any, false).await.err().unwrap());
    assert_eq!(report.message, "editable.common.puppet_debug.value: must be true or false, got text");

    let changed = submit(cluster, valid.clone(), Precondition::Any, false).await.unwrap();
    assert_eq!(changed.settings["common"]["debug"]["value"], json!(true));
    let mut locked = changed.cluster;
    locked.is_locked = true;
    let other = json!({"common": {"debug": {"value": false}}});
    let error = submit(locked.clone(), other.clone(), Precondition::Any, false).await.err().unwrap();
    let ServiceError::Forbidden(report) = error else { panic!("{error:?}") };
    assert_eq!(report.diagnostics[0].code, codes::CLUSTER_LOCKED);
    submit(locked, other, Precondition::Any, true).await.unwrap();
}

#[tokio::test]
async fn reset_restores_defaults_and_keeps_generated_values() {
    let fixture = Fixture::new().await;
    let (cluster, _) =
        cluster_create(&fixture.settings, fixture.change().await, fixture.request("a")).await.unwrap();
    let submitted = map(json!({"common": {"debug": {"value": true}}}));
    let changed = settings_update(
        &fixture.settings,
        fixture.change().await,
        cluster,
        &Precondition::Any,
        submitted,
        false,
    )
    .await
    .unwrap();
    let generated = changed.cluster.generated.clone();
    let writing = fixture.change().await;
    let reset = settings_reset(&fixture.settings, writing, changed.cluster, &Precondition::Any, false).await;
    let reset = reset.unwrap();
    assert_eq!(reset.settings["common"]["debug"]["value"], json!(false));
    assert_eq!(reset.cluster.generated, generated);
}

#[tokio::test]
async fn active_run_prevents_deletion_and_reset() {
    let fixture = Fixture::new().await;
    let (cluster, _) =
        cluster_create(&fixture.settings, fixture.change().await, fixture.request("a")).await.unwrap();
    let mut writing = fixture.change().await;
    let run = NewRun {
        uuid: "u".to_owned(),
        parent_id: None,
        cluster_id: Some(cluster.id),
        name: RunName::Deploy,
        status: RunStatus::Running,
        progress: 0,
        message: None,
        result: json!({}),
        graph_type: None,
        dry_run: false,
        started_at: Some(Micros(1)),
        ended_at: None,
    };
    let run = writing.run_create(&run).await.unwrap();
    let change =
        stoker_model::AuditChange { action: "run.start", target: "run".to_owned(), detail: json!({}) };
    writing.commit(change).await.unwrap();

    let any = Precondition::Any;
    let refused = cluster_delete(fixture.change().await, cluster.clone(), &any, false).await.err().unwrap();
    assert!(invalid(refused).message.contains("is not possible while run"));
    let refused = cluster_reset(fixture.change().await, cluster.clone()).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Conflict(_)), "{refused:?}");

    let deleted = cluster_delete(fixture.change().await, cluster.clone(), &any, true).await.unwrap();
    assert_eq!((deleted.failed, deleted.run.status), (vec![run.id], RunStatus::Ready));
    let mut session = fixture.store.read().await.unwrap();
    assert!(session.cluster_get(cluster.id).await.unwrap().is_none());
}

/// Writers are serialized, so a preview must not merge graphs while it holds their lock.
#[tokio::test]
async fn release_preview_releases_the_write_lock_before_it_merges_graphs() {
    let fixture = Fixture::new().await;
    let (cluster, _) =
        cluster_create(&fixture.settings, fixture.change().await, fixture.request("a")).await.unwrap();
    let target = NewRelease { version: "newton-10.0".to_owned(), ..release() };
    let target = release_create(fixture.change().await, &target, EmbeddedGraphs::default()).await.unwrap();
    let mut writing = fixture.change().await;
    let task = Task { name: "added".to_owned(), fields: map(json!({"type": "shell"})) };
    let (owner, graph_type) = (Owner::Release(target.id), GraphType::new("upgrade").unwrap());
    writing.graph_create(owner, &graph_type, &GraphMetadata::default(), &[task]).await.unwrap();
    writing.commit(AuditChange { action: "test", target: String::new(), detail: Json::Null }).await.unwrap();
    let graphs = fixture.services().await.graphs;
    let (from, writing) = (cluster.release_id, fixture.change().await);
    let preview = release_preview(&fixture.settings, writing, cluster, target.id, None).await.unwrap();
    let writing = fixture.change().await;
    let preview = preview.merge(&graphs).await.unwrap();
    drop(writing);
    assert_eq!((preview.change.from.id, preview.change.to.id), (from, target.id));
    let [graph] = &preview.graphs[..] else { panic!("{:?}", preview.graphs) };
    assert_eq!((graph.graph_type.as_str(), &graph.added[..]), ("upgrade", &["added".to_owned()][..]));
}
