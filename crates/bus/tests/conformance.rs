//! Conformance suite for all transports: in-process and NATS.

use std::time::Duration;

use stoker_bus::{
    BODY_BYTES_MAX, Bus, BusError, NatsBus, NatsOptions, SUBSCRIBER_BUFFER_MAX, SubjectPattern,
};
use stoker_testkit::TestNats;
use tokio::time::{sleep, timeout};

use crate::support::{over_nats, subject, until_up};

fn pattern(text: &str) -> SubjectPattern {
    SubjectPattern::new(text.split('.')).expect("a pattern")
}

async fn next_body(subscription: &mut stoker_bus::Subscription) -> Vec<u8> {
    timeout(Duration::from_secs(20), subscription.next()).await.expect("in time").expect("a message").body
}

on_both! {
    start_open:
    messages_arrive_in_order_at_all_subscribers,
    only_matching_messages_arrive,
    queue_group_delivers_each_message_once,
    dropping_subscription_unsubscribes,
    large_bodies_are_rejected,
    slow_subscriber_drops_messages_without_blocking,
}

async fn messages_arrive_in_order_at_all_subscribers(bus: Bus) {
    let mut one = bus.subscribe(&pattern("a.*")).await.expect("subscribed");
    let mut other = bus.subscribe(&pattern(">")).await.expect("subscribed");
    for n in 0..100_u8 {
        bus.publish(&subject("a.b"), vec![n]).await.expect("sent");
    }
    for n in 0..100_u8 {
        assert_eq!(next_body(&mut one).await, [n]);
        assert_eq!(next_body(&mut other).await, [n]);
    }
    let stats = bus.stats();
    assert_eq!((stats.n_published, stats.n_received, stats.n_lost), (100, 200, 0));
}

async fn only_matching_messages_arrive(bus: Bus) {
    let mut exact = bus.subscribe(&pattern("a.b")).await.expect("subscribed");
    let mut any_word = bus.subscribe(&pattern("a.*.c")).await.expect("subscribed");
    let mut all_below = bus.subscribe(&pattern("a.>")).await.expect("subscribed");
    for text in ["a.b", "a.b.c", "b.b", "a", "a.x.c", "a.b.c.d"] {
        bus.publish(&subject(text), text.as_bytes().to_vec()).await.expect("sent");
    }
    bus.publish(&subject("a.b"), b"last".to_vec()).await.expect("sent");
    assert_eq!(next_body(&mut exact).await, b"a.b");
    assert_eq!(next_body(&mut exact).await, b"last");
    assert_eq!(next_body(&mut any_word).await, b"a.b.c");
    assert_eq!(next_body(&mut any_word).await, b"a.x.c");
    for text in ["a.b", "a.b.c", "a.x.c", "a.b.c.d"] {
        let message = all_below.next().await.expect("a message");
        assert_eq!((message.subject, message.body), (subject(text), text.as_bytes().to_vec()));
    }
}

async fn queue_group_delivers_each_message_once(bus: Bus) {
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(bus.subscribe_shared(&pattern("work.*"), "servers").await.expect("subscribed"));
    }
    let mut alone = bus.subscribe_shared(&pattern("work.*"), "others").await.expect("subscribed");
    for n in 0..60_u8 {
        bus.publish(&subject("work.x"), vec![n]).await.expect("sent");
    }
    for n in 0..60_u8 {
        assert_eq!(next_body(&mut alone).await, [n]);
    }
    let mut bodies = Vec::new();
    for member in &mut members {
        while let Ok(Some(message)) = timeout(Duration::from_millis(200), member.next()).await {
            bodies.extend(message.body);
        }
    }
    bodies.sort_unstable();
    assert_eq!(bodies, (0..60).collect::<Vec<u8>>());
    // The other members take over the share of a member that leaves.
    drop(members.split_off(1));
    let remaining = members.first_mut().expect("one");
    for n in 0..200_u8 {
        bus.publish(&subject("work.x"), vec![n]).await.expect("sent");
        sleep(Duration::from_millis(1)).await;
    }
    let last = async { while next_body(remaining).await != [199] {} };
    timeout(Duration::from_secs(20), last).await.expect("the last message arrives");
}

async fn dropping_subscription_unsubscribes(bus: Bus) {
    let first = bus.subscribe(&pattern("a")).await.expect("subscribed");
    let mut second = bus.subscribe(&pattern("a")).await.expect("subscribed");
    drop(first);
    let waiting = async {
        loop {
            let before = bus.stats().n_received;
            bus.publish(&subject("a"), vec![1]).await.expect("sent");
            next_body(&mut second).await;
            if bus.stats().n_received == before + 1 {
                break;
            }
        }
    };
    timeout(Duration::from_secs(20), waiting).await.expect("one subscriber is left");
}

async fn large_bodies_are_rejected(bus: Bus) {
    let mut listening = bus.subscribe(&pattern("a")).await.expect("subscribed");
    let refused = bus.publish(&subject("a"), vec![0; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(BusError::TooLarge { n_bytes }) if n_bytes == BODY_BYTES_MAX + 1));
    bus.publish(&subject("a"), vec![7; BODY_BYTES_MAX]).await.expect("sent");
    assert_eq!(next_body(&mut listening).await.len(), BODY_BYTES_MAX);
}

async fn slow_subscriber_drops_messages_without_blocking(bus: Bus) {
    let mut slow = bus.subscribe(&pattern("a")).await.expect("subscribed");
    let mut quick = bus.subscribe(&pattern("a")).await.expect("subscribed");
    let n_sent = SUBSCRIBER_BUFFER_MAX + 1000;
    for n in 0..n_sent {
        bus.publish(&subject("a"), n.to_le_bytes().to_vec()).await.expect("sent");
        if n % 100 == 99 {
            for _ in 0..100 {
                next_body(&mut quick).await;
            }
        }
    }
    let waiting = async {
        while bus.stats().n_lost < 1000 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), waiting).await.expect("dropped messages are counted");
    assert_eq!(bus.stats().n_lost, 1000);
    for n in 0..SUBSCRIBER_BUFFER_MAX {
        assert_eq!(next_body(&mut slow).await, n.to_le_bytes());
    }
}

#[tokio::test]
async fn nats_outage_is_transient() {
    let Some(mut server) = TestNats::start_open() else { return };
    let bus = over_nats(&server).await;
    let mut listening = bus.subscribe(&pattern("a.>")).await.expect("subscribed");
    let mut shared = bus.subscribe_shared(&pattern("a.>"), "servers").await.expect("subscribed");
    server.kill();
    let noticed = async {
        while bus.is_connected() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), noticed).await.expect("the outage is detected");
    let refused = timeout(Duration::from_secs(1), bus.publish(&subject("a.b"), vec![1])).await;
    assert!(matches!(refused.expect("an immediate error"), Err(BusError::Unavailable(_))));
    let mut late = bus.subscribe(&pattern("a.b")).await.expect("subscribed on reconnect");
    server.start();
    until_up(&bus).await;
    let heard = async {
        loop {
            bus.publish(&subject("a.b"), vec![2]).await.ok();
            let waited = timeout(Duration::from_millis(100), listening.next()).await;
            if let Ok(Some(message)) = waited {
                break message.body;
            }
        }
    };
    assert_eq!(timeout(Duration::from_secs(20), heard).await.expect("received after reconnect"), [2]);
    assert_eq!(next_body(&mut shared).await, [2]);
    assert_eq!(next_body(&mut late).await, [2]);
}

#[tokio::test]
async fn unreachable_nats_does_not_prevent_startup() {
    let Some(mut server) = TestNats::start_open() else { return };
    server.kill();
    let bus = Bus::Nats(NatsBus::connect(&NatsOptions::new(server.url())).await.expect("an address"));
    assert!(!bus.is_connected());
    assert!(matches!(bus.publish(&subject("a"), vec![1]).await, Err(BusError::Unavailable(_))));
    server.start();
    until_up(&bus).await;
    let mut listening = bus.subscribe(&pattern("a")).await.expect("subscribed");
    bus.publish(&subject("a"), vec![1]).await.expect("sent");
    assert_eq!(next_body(&mut listening).await, [1]);
}
