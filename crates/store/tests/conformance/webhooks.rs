use std::collections::BTreeMap;

use serde_json::json;
use stoker_model::{
    ClusterId, DeliveryAttempt, DeliveryStatus, EncryptedContents, Micros, NewNotification, NodeId,
    NotificationId, RunId, TenantId, Topic, Webhook, WebhookBody, WebhookId,
};
use stoker_store::{EncryptedLocation, List, NotificationFilter, PresenceUpdate, StoreError};

use crate::fixture::{Fixture, cluster, commit, connection_notification, n_rows, new_node};

fn body(name: &str) -> WebhookBody {
    WebhookBody {
        name: name.to_owned(),
        url: "https://example.org/häng".to_owned(),
        topics: vec![Topic::RunFailed, Topic::NodeLost],
        cluster_id: None,
        enabled: true,
    }
}

fn sealed(key: &str) -> EncryptedContents {
    EncryptedContents { key: key.to_owned(), bytes: vec![0, 1, 255] }
}

fn notification(topic: Topic, cluster: Option<ClusterId>) -> NewNotification {
    NewNotification {
        topic,
        message: "what happened\nhere".to_owned(),
        cluster_id: cluster,
        run_id: Some(RunId(7)),
        node_id: None,
        body: json!({"topic": topic.as_str(), "deep": [1.5, null]}),
    }
}

async fn all_fields_round_trip(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let cluster = cluster(&mut writing, "c").await;
    let bound = WebhookBody { cluster_id: Some(cluster.id), ..body("a") };
    let created = writing.webhook_create(&bound, &sealed("one")).await.unwrap();
    assert_eq!(writing.webhook_get(created.id).await.unwrap().as_ref(), Some(&created));
    assert_eq!(writing.webhook_secret(created.id).await.unwrap(), sealed("one"));
    assert_error!(
        writing.webhook_create(&body("a"), &sealed("one")).await,
        StoreError::AlreadyExists { what: "webhook name" }
    );
    let second = writing.webhook_create(&body("b"), &sealed("one")).await.unwrap();
    let clash = Webhook { body: body("a"), ..second.clone() };
    assert_error!(writing.webhook_update(&clash, None).await, StoreError::AlreadyExists { .. });
    let plain = WebhookBody { topics: vec![], enabled: false, ..body("c") };
    let changed = Webhook { body: plain, ..second.clone() };
    let changed = writing.webhook_update(&changed, Some(&sealed("two"))).await.unwrap();
    assert_error!(writing.webhook_update(&second, None).await, StoreError::Stale { current: 2 });
    assert_eq!(writing.webhook_secret(second.id).await.unwrap(), sealed("two"));
    assert_eq!(writing.webhook_list(&List::default()).await.unwrap().items, [created.clone(), changed]);
    let dangling = WebhookBody { cluster_id: Some(ClusterId(99)), ..body("d") };
    assert_error!(
        writing.webhook_create(&dangling, &sealed("one")).await,
        StoreError::NotFound { what: "cluster" }
    );
    assert_error!(writing.webhook_secret(WebhookId(99)).await, StoreError::NotFound { what: "webhook" });
    // Key rotation covers webhook secrets.
    let others = writing.encrypted_with_other_key("two").await.unwrap();
    assert_eq!(others, [(EncryptedLocation::Webhook(created.id), sealed("one"))]);
    writing.encrypted_put(&others[0].0, &sealed("two")).await.unwrap();
    assert_eq!(writing.encrypted_with_other_key("two").await.unwrap(), []);
    assert!(writing.webhook_delete(second.id).await.unwrap());
    assert!(!writing.webhook_delete(second.id).await.unwrap());
    writing.cluster_delete(cluster.id).await.unwrap();
    commit(writing).await;
    assert_eq!(n_rows(fixture, "webhooks").await + n_rows(fixture, "webhook_secrets").await, 0);
}

async fn notifications_are_delivered_to_subscribed_webhooks(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let (here, there) = (cluster(&mut writing, "c").await, cluster(&mut writing, "d").await);
    let all = WebhookBody { topics: vec![], ..body("all") };
    let all = writing.webhook_create(&all, &sealed("k")).await.unwrap();
    let some = WebhookBody { cluster_id: Some(here.id), ..body("some") };
    let some = writing.webhook_create(&some, &sealed("k")).await.unwrap();
    let off = WebhookBody { enabled: false, topics: vec![], ..body("off") };
    let off = writing.webhook_create(&off, &sealed("k")).await.unwrap();
    for (new, n_deliveries) in [
        (notification(Topic::RunFailed, Some(here.id)), 2),
        (notification(Topic::RunStarted, Some(here.id)), 1),
        (notification(Topic::RunFailed, Some(there.id)), 1),
        (notification(Topic::NodeLost, None), 1),
    ] {
        assert_eq!(writing.notification_add(&new).await.unwrap(), n_deliveries, "{new:?}");
    }
    for (webhook, topics) in [
        (all.id, vec![Topic::NodeLost, Topic::RunFailed, Topic::RunStarted, Topic::RunFailed]),
        (some.id, vec![Topic::RunFailed]),
        (off.id, vec![]),
    ] {
        let page = writing.delivery_list(webhook, None, &List::default()).await.unwrap();
        assert_eq!(page.items.iter().map(|delivery| delivery.topic).collect::<Vec<_>>(), topics);
    }
    let list = writing.delivery_list(some.id, Some(DeliveryStatus::Pending), &List::default()).await.unwrap();
    let delivery = writing.delivery_get(list.items[0].id).await.unwrap().unwrap();
    assert_eq!(delivery, list.items[0]);
    assert_eq!(delivery.body, notification(Topic::RunFailed, None).body);
    assert_eq!((delivery.attempts, delivery.status), (0, DeliveryStatus::Pending));
    // Notifications in the web UI.
    let everything = NotificationFilter::default();
    let listed = writing.notification_list(&everything, &List::default()).await.unwrap().items;
    assert_eq!(listed.len(), 4);
    assert_eq!((listed[0].topic, listed[0].is_read), (Topic::NodeLost, false));
    assert_eq!((listed[3].run_id, listed[3].message.as_str()), (Some(RunId(7)), "what happened\nhere"));
    let of_tenant = NotificationFilter { tenant_id: Some(here.tenant_id), ..Default::default() };
    assert_eq!(writing.notification_count(&of_tenant).await.unwrap(), 2);
    let strange = NotificationFilter { tenant_id: Some(TenantId(99)), ..Default::default() };
    assert_eq!(writing.notification_mark(&strange, true).await.unwrap(), 0);
    let one = NotificationFilter { ids: Some(vec![listed[0].id, NotificationId(99)]), ..Default::default() };
    assert_eq!(writing.notification_mark(&one, true).await.unwrap(), 1);
    assert_eq!(writing.notification_mark(&one, true).await.unwrap(), 0, "already read");
    let unread = NotificationFilter { is_read: Some(false), ..Default::default() };
    assert_eq!(writing.notification_count(&unread).await.unwrap(), 3);
    assert_eq!(writing.notification_mark(&everything, true).await.unwrap(), 3);
    assert_eq!(writing.notification_mark(&everything, false).await.unwrap(), 4);
    let topics = NotificationFilter {
        topics: Some(vec![Topic::RunFailed]),
        cluster_id: Some(here.id),
        ..Default::default()
    };
    assert_eq!(writing.notification_list(&topics, &List::default()).await.unwrap().items.len(), 1);
    commit(writing).await;
}

async fn delivery_is_claimed_once(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let first = writing.webhook_create(&body("a"), &sealed("k")).await.unwrap();
    let second = writing.webhook_create(&body("b"), &sealed("k")).await.unwrap();
    for _ in 0..3 {
        writing.notification_add(&notification(Topic::RunFailed, None)).await.unwrap();
    }
    let now = writing.now();
    commit(writing).await;
    let until = now.plus_seconds(40);
    let claim = async |busy: Vec<WebhookId>, now| fixture.store.deliveries_claim(&busy, 9, now, until).await;
    // Concurrent claims get at most one delivery per webhook each.
    let (one, other) = tokio::join!(claim(vec![], now), claim(vec![], now));
    let mut claimed: Vec<_> = one.unwrap().into_iter().chain(other.unwrap()).collect();
    claimed.sort_by_key(|delivery| delivery.id);
    claimed.dedup_by_key(|delivery| delivery.id);
    let n_first = claimed.iter().filter(|delivery| delivery.webhook_id == first.id).count();
    assert_eq!((claimed.len(), n_first), (4, 2), "each claim gets the oldest delivery of each webhook");
    assert!(claimed.iter().all(|delivery| delivery.attempts == 1 && delivery.next_attempt_at == until));
    let rest = claim(vec![second.id], now).await.unwrap();
    assert_eq!(rest.iter().map(|delivery| delivery.webhook_id).collect::<Vec<_>>(), [first.id]);
    assert_eq!(claim(vec![second.id], now).await.unwrap(), []);
    // The claiming server died: the claim expires.
    let again = fixture.store.deliveries_claim(&[second.id], 9, until, until.plus_seconds(1)).await.unwrap();
    assert_eq!((again.len(), again[0].id, again[0].attempts), (1, claimed[0].id, 2));
    let tried = |status| DeliveryAttempt {
        status,
        due_at: until.plus_seconds(5),
        tried_at: until,
        answer: Some(500),
        problem: Some("HTTP status 500".to_owned()),
    };
    let store = &fixture.store;
    assert!(!store.delivery_record_attempt(again[0].id, 1, &tried(DeliveryStatus::Delivered)).await.unwrap());
    assert!(store.delivery_record_attempt(again[0].id, 2, &tried(DeliveryStatus::Pending)).await.unwrap());
    assert!(store.delivery_record_attempt(again[0].id, 2, &tried(DeliveryStatus::Failed)).await.unwrap());
    assert!(!store.delivery_record_attempt(again[0].id, 2, &tried(DeliveryStatus::Delivered)).await.unwrap());
    let mut writing = fixture.change().await;
    let delivery = writing.delivery_get(again[0].id).await.unwrap().unwrap();
    assert_eq!((delivery.status, delivery.response_status), (DeliveryStatus::Failed, Some(500)));
    assert_eq!(
        (delivery.last_attempt_at, delivery.last_error.as_deref()),
        (Some(until), Some("HTTP status 500"))
    );
    assert_eq!(writing.deliveries_pending().await.unwrap(), 5);
    let anew = writing.delivery_redeliver(delivery.id).await.unwrap().unwrap();
    assert_eq!(
        (anew.status, anew.attempts, anew.next_attempt_at),
        (DeliveryStatus::Pending, 0, writing.now())
    );
    assert_eq!(writing.delivery_redeliver(stoker_model::DeliveryId(99)).await.unwrap(), None);
    // Pending deliveries are not expired, regardless of their age.
    assert_eq!(writing.notifications_expire(Micros(i64::MAX)).await.unwrap(), 3);
    assert_eq!(writing.deliveries_pending().await.unwrap(), 6);
    commit(writing).await;
}

async fn disabled_webhook_gets_no_deliveries(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    let webhook = writing.webhook_create(&body("a"), &sealed("k")).await.unwrap();
    writing.notification_add(&notification(Topic::RunFailed, None)).await.unwrap();
    let off = Webhook { body: WebhookBody { enabled: false, ..body("a") }, ..webhook };
    let off = writing.webhook_update(&off, None).await.unwrap();
    let now = writing.now();
    commit(writing).await;
    let claim = async || fixture.store.deliveries_claim(&[], 9, now, now.plus_seconds(1)).await.unwrap();
    assert_eq!(claim().await, []);
    let mut writing = fixture.change().await;
    let on = Webhook { body: body("a"), ..off };
    writing.webhook_update(&on, None).await.unwrap();
    commit(writing).await;
    assert_eq!(claim().await.len(), 1);
}

async fn node_connection_change_notifies_once(fixture: &Fixture) {
    let mut writing = fixture.change().await;
    writing.webhook_create(&body("a"), &sealed("k")).await.unwrap();
    let node = writing.node_create(&new_node("00:00:00:00:00:01")).await.unwrap();
    let now = writing.now();
    commit(writing).await;
    for (online, n_deliveries, n_notifications) in [(true, 0, 0), (false, 1, 1), (false, 0, 1), (true, 0, 2)]
    {
        let sightings = BTreeMap::from([
            (node.id, PresenceUpdate { online, facts: None }),
            (NodeId(99), PresenceUpdate { online, facts: None }),
        ]);
        assert_eq!(
            fixture.store.nodes_update_presence(&sightings, now, connection_notification).await.unwrap(),
            n_deliveries
        );
        assert_eq!(n_rows(fixture, "notifications").await, n_notifications);
    }
    let notifications =
        fixture.read().await.notification_list(&NotificationFilter::default(), &List::default()).await;
    let notifications: Vec<_> = notifications
        .unwrap()
        .items
        .into_iter()
        .map(|notifications| (notifications.topic, notifications.node_id))
        .collect();
    assert_eq!(notifications, [(Topic::NodeBack, Some(node.id)), (Topic::NodeLost, Some(node.id))]);
}

on_both![
    all_fields_round_trip,
    delivery_is_claimed_once,
    disabled_webhook_gets_no_deliveries,
    node_connection_change_notifies_once,
    notifications_are_delivered_to_subscribed_webhooks,
];
