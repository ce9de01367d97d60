//! Conformance suite for durable messages: in-process and JetStream.

use std::collections::BTreeSet;
use std::time::Duration;

use stoker_bus::{BODY_BYTES_MAX, Bus, BusError, Consumer, Delivery, StreamSettings, SubjectPattern};
use stoker_testkit::TestNats;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{over_nats, subject, until_up};

const LONG: Duration = Duration::from_secs(20);
/// Wait that is long enough for an available message to arrive.
const SHORT: Duration = Duration::from_millis(300);

fn settings() -> StreamSettings {
    StreamSettings {
        name: "RESULTS",
        subjects: SubjectPattern::new(["agent", "*", "result"]).expect("a pattern"),
        consumers: "servers",
        bytes_max: 1 << 20,
        age_max: Duration::from_mins(10),
        dedup_window: Duration::from_mins(1),
        ack_wait: Duration::from_secs(2),
    }
}

async fn keeper(bus: &Bus) -> Consumer {
    bus.consumer(&settings()).await.expect("a keeper")
}

async fn keep(bus: &Bus, id: &str) {
    bus.publish_durable(&subject("agent.7.result"), id, id.as_bytes().to_vec()).await.expect("kept");
}

async fn next(keeper: &mut Consumer) -> Delivery {
    timeout(LONG, keeper.next()).await.expect("in time").expect("a message")
}

async fn is_empty(keeper: &mut Consumer) -> bool {
    timeout(SHORT, keeper.next()).await.is_err()
}

on_both! {
    with_jetstream:
    message_is_stored_until_consumed,
    message_without_stream_is_rejected,
    acknowledged_message_is_not_redelivered,
    unacknowledged_message_is_redelivered,
    nak_delays_redelivery_without_blocking_others,
    duplicate_ids_are_dropped,
    consumers_share_messages,
    large_message_is_rejected,
    oldest_messages_are_dropped_beyond_size_limit,
    expired_messages_are_dropped,
}

async fn message_is_stored_until_consumed(bus: Bus) {
    drop(keeper(&bus).await);
    bus.publish_durable(&subject("agent.7.result"), "a", b"done".to_vec()).await.expect("kept");
    let mut keeper = keeper(&bus).await;
    let kept = next(&mut keeper).await;
    assert_eq!(
        (kept.subject.as_str(), &kept.body[..], kept.n_deliveries),
        ("agent.7.result", &b"done"[..], 1)
    );
}

async fn message_without_stream_is_rejected(bus: Bus) {
    let refused = bus.publish_durable(&subject("agent.7.result"), "a", vec![1]).await;
    assert!(matches!(refused, Err(BusError::DurableUnavailable(_))), "{refused:?}");
    let _keeper = keeper(&bus).await;
    let refused = bus.publish_durable(&subject("agent.7.other"), "a", vec![1]).await;
    assert!(matches!(refused, Err(BusError::DurableUnavailable(_))), "{refused:?}");
    keep(&bus, "a").await;
}

async fn acknowledged_message_is_not_redelivered(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for id in ["a", "b"] {
        keep(&bus, id).await;
        next(&mut keeper).await.ack().await.expect("acknowledged");
    }
    sleep(settings().ack_wait).await;
    assert!(is_empty(&mut keeper).await);
}

async fn unacknowledged_message_is_redelivered(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    drop(next(&mut keeper).await);
    assert!(is_empty(&mut keeper).await, "within the ack timeout");
    let again = next(&mut keeper).await;
    assert_eq!((&again.body[..], again.n_deliveries), (&b"a"[..], 2));
}

async fn nak_delays_redelivery_without_blocking_others(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    let first = next(&mut keeper).await;
    let began = Instant::now();
    first.nak(Duration::from_secs(1)).await.expect("acknowledged");
    keep(&bus, "b").await;
    let other = next(&mut keeper).await;
    assert_eq!(other.body, b"b");
    other.ack().await.expect("acknowledged");
    let again = next(&mut keeper).await;
    assert_eq!(again.body, b"a");
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    again.ack().await.expect("acknowledged");
}

async fn duplicate_ids_are_dropped(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for id in ["a", "a", "b", "a"] {
        keep(&bus, id).await;
    }
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let kept = next(&mut keeper).await;
        bodies.extend(kept.body.clone());
        kept.ack().await.expect("acknowledged");
    }
    assert_eq!(bodies, b"ab");
    // Deduplication also covers messages that were acknowledged.
    keep(&bus, "b").await;
    assert!(is_empty(&mut keeper).await);
}

async fn consumers_share_messages(bus: Bus) {
    let (mut one, mut other) = (keeper(&bus).await, keeper(&bus).await);
    for n in 0..200 {
        keep(&bus, &n.to_string()).await;
    }
    let mut bodies = Vec::new();
    while bodies.len() < 200 {
        let kept = timeout(LONG, async {
            tokio::select! {
                kept = one.next() => kept,
                kept = other.next() => kept,
            }
        });
        let kept = kept.await.expect("in time").expect("a message");
        bodies.push(kept.body.clone());
        kept.ack().await.expect("acknowledged");
    }
    let n_different = bodies.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(n_different, 200);
    assert!(is_empty(&mut one).await && is_empty(&mut other).await);
}

async fn large_message_is_rejected(bus: Bus) {
    let _keeper = keeper(&bus).await;
    let refused = bus.publish_durable(&subject("agent.7.result"), "a", vec![0; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(BusError::TooLarge { .. })), "{refused:?}");
}

async fn oldest_messages_are_dropped_beyond_size_limit(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for n in 0..10_u8 {
        let body = vec![n; 200 << 10];
        bus.publish_durable(&subject("agent.7.result"), &n.to_string(), body).await.expect("kept");
    }
    let mut remaining = Vec::new();
    while let Ok(kept) = timeout(SHORT, keeper.next()).await {
        let kept = kept.expect("a message");
        remaining.push(kept.body[0]);
        kept.ack().await.expect("acknowledged");
    }
    assert_eq!(remaining.last(), Some(&9), "{remaining:?}");
    assert!(remaining.len() <= 5 && !remaining.contains(&0), "{remaining:?}");
}

async fn expired_messages_are_dropped(bus: Bus) {
    let (age_max, once_within) = (Duration::from_secs(1), Duration::from_secs(1));
    let brief = StreamSettings { name: "BRIEF", age_max, dedup_window: once_within, ..settings() };
    let mut keeper = bus.consumer(&brief).await.expect("a keeper");
    keep(&bus, "a").await;
    sleep(age_max * 2).await;
    assert!(is_empty(&mut keeper).await);
    keep(&bus, "a").await;
    assert_eq!(next(&mut keeper).await.body, b"a", "its id left the deduplication window too");
}

#[tokio::test]
async fn messages_survive_nats_restart() {
    let Some(mut server) = TestNats::with_jetstream() else { return };
    let bus = over_nats(&server).await;
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    server.kill();
    server.start();
    until_up(&bus).await;
    let kept = loop {
        match timeout(LONG, keeper.next()).await.expect("in time") {
            Ok(kept) => break kept,
            // The pull request was lost with the connection and is repeated.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    assert_eq!(kept.body, b"a");
}

#[tokio::test]
async fn lost_stream_is_detected_and_recreated() {
    let Some(mut server) = TestNats::with_jetstream() else { return };
    let bus = over_nats(&server).await;
    let mut lost = keeper(&bus).await;
    keep(&bus, "a").await;
    drop(next(&mut lost).await);
    server.kill();
    server.delete_storage();
    server.start();
    until_up(&bus).await;
    let refused = timeout(LONG, async {
        loop {
            match lost.next().await {
                Err(BusError::Unavailable(_)) => sleep(Duration::from_millis(50)).await,
                other => break other.map(drop),
            }
        }
    });
    assert!(matches!(refused.await.expect("in time"), Err(BusError::DurableUnavailable(_))));
    assert!(matches!(
        bus.publish_durable(&subject("agent.7.result"), "b", vec![1]).await,
        Err(BusError::DurableUnavailable(_))
    ));
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    assert_eq!(next(&mut keeper).await.body, b"a");
}

#[tokio::test]
async fn missing_jetstream_and_outage_are_reported() {
    let Some(mut server) = TestNats::start_open() else { return };
    let bus = over_nats(&server).await;
    let refused = bus.consumer(&settings()).await.map(drop);
    assert!(
        matches!(&refused, Err(BusError::DurableUnavailable(why)) if why.contains("JetStream")),
        "{refused:?}"
    );
    assert!(matches!(
        bus.publish_durable(&subject("agent.7.result"), "a", vec![1]).await,
        Err(BusError::DurableUnavailable(_))
    ));
    server.kill();
    let noticed = async {
        while bus.is_connected() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, noticed).await.expect("the outage is detected");
    assert!(matches!(
        bus.publish_durable(&subject("agent.7.result"), "a", vec![1]).await,
        Err(BusError::Unavailable(_))
    ));
}
