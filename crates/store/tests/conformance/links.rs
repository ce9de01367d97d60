use stoker_model::{ClusterId, Link, LinkBody, LinkOwner, PluginId};
use stoker_store::{List, StoreError};

use crate::fixture::{Fixture, cluster, commit, n_rows, plugin};

fn body(url: &str) -> LinkBody {
    LinkBody {
        title: "Ünusual".to_owned(),
        url: url.to_owned(),
        description: Some("what is\nthere".to_owned()),
        hidden: false,
    }
}

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let owners = [
        LinkOwner::Cluster(cluster(&mut writing, "c").await.id),
        LinkOwner::Plugin(plugin(&mut writing, "p").await.id),
    ];
    for owner in owners {
        let created = writing.link_create(owner, &body("http://one.example/")).await.unwrap();
        assert_eq!(writing.link_get(created.id).await.unwrap().as_ref(), Some(&created));
        let changed = LinkBody { description: None, hidden: true, ..body("/two") };
        let changed = Link { body: changed, ..created.clone() };
        let changed = writing.link_update(&changed).await.unwrap();
        assert_error!(writing.link_update(&created).await, StoreError::Stale { current: 2 });
        assert_eq!(writing.link_list(owner, &List::default()).await.unwrap().items, [changed]);
    }
    commit(writing).await;
    assert_eq!(n_rows(fixture, "links").await, 2);
}

async fn urls_are_unique_per_owner(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    for orphan in [LinkOwner::Cluster(ClusterId(99)), LinkOwner::Plugin(PluginId(99))] {
        let missing = writing.link_create(orphan, &body("/a")).await;
        assert_error!(missing, StoreError::NotFound { what: "cluster" | "plugin" });
    }
    let owners = [
        LinkOwner::Cluster(cluster(&mut writing, "c").await.id),
        LinkOwner::Cluster(cluster(&mut writing, "d").await.id),
        LinkOwner::Plugin(plugin(&mut writing, "p").await.id),
        LinkOwner::Plugin(plugin(&mut writing, "q").await.id),
    ];
    for owner in owners {
        writing.link_create(owner, &body("/a")).await.unwrap();
        let second = writing.link_create(owner, &body("/b")).await.unwrap();
        let taken = writing.link_create(owner, &body("/a")).await;
        assert_error!(taken, StoreError::AlreadyExists { what: "url of a link" });
        let clash = Link { body: body("/a"), ..second.clone() };
        assert_error!(writing.link_update(&clash).await, StoreError::AlreadyExists { .. });
        assert!(writing.link_delete(second.id).await.unwrap());
        assert!(!writing.link_delete(second.id).await.unwrap());
        assert_error!(writing.link_update(&second).await, StoreError::NotFound { what: "link" });
    }
}

async fn deleting_owner_deletes_links(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let plugin = plugin(&mut writing, "p").await;
    writing.link_create(LinkOwner::Cluster(cluster.id), &body("/a")).await.unwrap();
    writing.link_create(LinkOwner::Plugin(plugin.id), &body("/a")).await.unwrap();
    writing.cluster_delete(cluster.id).await.unwrap();
    writing.plugin_delete(plugin.id).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "links").await, 0);
}

on_both![all_fields_round_trip, deleting_owner_deletes_links, urls_are_unique_per_owner,];
