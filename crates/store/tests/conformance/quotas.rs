use stoker_model::{Quotas, Resource, TenantId};
use stoker_store::StoreError;

use crate::fixture::{Fixture, cluster, commit, n_rows, node, tenant};

async fn quotas_round_trip_and_are_deleted_with_the_tenant(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let red = tenant(&mut writing, "red").await;
    assert_eq!(writing.quotas_get(red.id).await.unwrap(), Quotas::default());
    for quotas in [
        Quotas { clusters: Some(3), modules: None, nodes: Some(0) },
        Quotas { clusters: None, modules: Some(7), nodes: None },
    ] {
        writing.quotas_put(red.id, &quotas).await.unwrap();
        assert_eq!(writing.quotas_get(red.id).await.unwrap(), quotas);
    }
    let missing = writing.quotas_put(TenantId(99), &Quotas::default()).await;
    assert_error!(missing, StoreError::NotFound { what: "tenant" });
    writing.tenant_delete(red.id).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "tenant_quotas").await, 0);
}

async fn usage_is_counted_per_tenant(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let here = cluster(&mut writing, "c").await;
    cluster(&mut writing, "d").await;
    let mut member = node(&mut writing, "00:00:00:00:00:01").await;
    node(&mut writing, "00:00:00:00:00:02").await;
    member.cluster_id = Some(here.id);
    writing.node_update(&member).await.unwrap();
    for (resource, n_used) in [(Resource::Clusters, 1), (Resource::Nodes, 1), (Resource::Modules, 0)] {
        assert_eq!(writing.quota_used(here.tenant_id, resource).await.unwrap(), n_used, "{resource}");
        assert_eq!(writing.quota_used(TenantId(99), resource).await.unwrap(), 0);
    }
}

on_both![quotas_round_trip_and_are_deleted_with_the_tenant, usage_is_counted_per_tenant,];
