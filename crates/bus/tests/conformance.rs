//! What every bus does, whatever carries it: one suite for delivery in memory and through NATS.

#[macro_use]
mod ground;

use std::time::Duration;

use stoker_bus::{BODY_BYTES_MAX, Bus, BusError, Nats, NatsOptions, Pattern, WAITING_MAX};
use stoker_testkit::TestNats;
use tokio::time::{sleep, timeout};

use ground::{over_nats, subject, until_up};

fn pattern(text: &str) -> Pattern {
    Pattern::new(text.split('.')).expect("a pattern")
}

async fn next_body(subscription: &mut stoker_bus::Subscription) -> Vec<u8> {
    timeout(Duration::from_secs(20), subscription.next()).await.expect("in time").expect("a message").body
}

on_both! {
    open:
    messages_arrive_in_order_at_all_who_listen,
    only_what_is_listened_to_arrives,
    of_those_who_share_a_name_one_gets_each_message,
    a_dropped_subscription_listens_no_longer,
    large_bodies_are_refused,
    a_slow_listener_loses_and_blocks_nobody,
}

async fn messages_arrive_in_order_at_all_who_listen(bus: Bus) {
    let mut one = bus.subscribe(&pattern("a.*")).await.expect("listens");
    let mut other = bus.subscribe(&pattern(">")).await.expect("listens");
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

async fn only_what_is_listened_to_arrives(bus: Bus) {
    let mut exact = bus.subscribe(&pattern("a.b")).await.expect("listens");
    let mut any_word = bus.subscribe(&pattern("a.*.c")).await.expect("listens");
    let mut all_below = bus.subscribe(&pattern("a.>")).await.expect("listens");
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

async fn of_those_who_share_a_name_one_gets_each_message(bus: Bus) {
    let mut members = Vec::new();
    for _ in 0..3 {
        members.push(bus.subscribe_shared(&pattern("work.*"), "servers").await.expect("listens"));
    }
    let mut alone = bus.subscribe_shared(&pattern("work.*"), "others").await.expect("listens");
    for n in 0..60_u8 {
        bus.publish(&subject("work.x"), vec![n]).await.expect("sent");
    }
    for n in 0..60_u8 {
        assert_eq!(next_body(&mut alone).await, [n]);
    }
    let mut seen = Vec::new();
    for member in &mut members {
        while let Ok(Some(message)) = timeout(Duration::from_millis(200), member.next()).await {
            seen.extend(message.body);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..60).collect::<Vec<u8>>());
    // Who goes leaves its share to the others.
    drop(members.split_off(1));
    let left = members.first_mut().expect("one");
    for n in 0..200_u8 {
        bus.publish(&subject("work.x"), vec![n]).await.expect("sent");
        sleep(Duration::from_millis(1)).await;
    }
    let last = async { while next_body(left).await != [199] {} };
    timeout(Duration::from_secs(20), last).await.expect("the last one arrives");
}

async fn a_dropped_subscription_listens_no_longer(bus: Bus) {
    let first = bus.subscribe(&pattern("a")).await.expect("listens");
    let mut second = bus.subscribe(&pattern("a")).await.expect("listens");
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
    timeout(Duration::from_secs(20), waiting).await.expect("only one listens");
}

async fn large_bodies_are_refused(bus: Bus) {
    let mut listening = bus.subscribe(&pattern("a")).await.expect("listens");
    let refused = bus.publish(&subject("a"), vec![0; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(BusError::TooLarge { n_bytes }) if n_bytes == BODY_BYTES_MAX + 1));
    bus.publish(&subject("a"), vec![7; BODY_BYTES_MAX]).await.expect("sent");
    assert_eq!(next_body(&mut listening).await.len(), BODY_BYTES_MAX);
}

async fn a_slow_listener_loses_and_blocks_nobody(bus: Bus) {
    let mut slow = bus.subscribe(&pattern("a")).await.expect("listens");
    let mut quick = bus.subscribe(&pattern("a")).await.expect("listens");
    let n_sent = WAITING_MAX + 1000;
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
    timeout(Duration::from_secs(20), waiting).await.expect("what is lost is counted");
    assert_eq!(bus.stats().n_lost, 1000);
    for n in 0..WAITING_MAX {
        assert_eq!(next_body(&mut slow).await, n.to_le_bytes());
    }
}

#[tokio::test]
async fn a_nats_that_is_away_is_a_state_and_its_return_is_noticed() {
    let Some(mut server) = TestNats::open() else { return };
    let bus = over_nats(&server).await;
    let mut listening = bus.subscribe(&pattern("a.>")).await.expect("listens");
    let mut shared = bus.subscribe_shared(&pattern("a.>"), "servers").await.expect("listens");
    server.stop();
    let noticed = async {
        while bus.is_up() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), noticed).await.expect("it is noticed");
    let refused = timeout(Duration::from_secs(1), bus.publish(&subject("a.b"), vec![1])).await;
    assert!(matches!(refused.expect("an answer at once"), Err(BusError::Away(_))));
    let mut late = bus.subscribe(&pattern("a.b")).await.expect("listens as soon as it can");
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
    assert_eq!(timeout(Duration::from_secs(20), heard).await.expect("it is heard again"), [2]);
    assert_eq!(next_body(&mut shared).await, [2]);
    assert_eq!(next_body(&mut late).await, [2]);
}

#[tokio::test]
async fn a_nats_that_was_never_there_stops_nobody_from_starting() {
    let Some(mut server) = TestNats::open() else { return };
    server.stop();
    let bus = Bus::Nats(Nats::connect(&NatsOptions::new(server.url())).await.expect("an address"));
    assert!(!bus.is_up());
    assert!(matches!(bus.publish(&subject("a"), vec![1]).await, Err(BusError::Away(_))));
    server.start();
    until_up(&bus).await;
    let mut listening = bus.subscribe(&pattern("a")).await.expect("listens");
    bus.publish(&subject("a"), vec![1]).await.expect("sent");
    assert_eq!(next_body(&mut listening).await, [1]);
}
