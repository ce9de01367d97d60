//! What every bus keeps, whatever carries it: one suite for what is kept in memory and by NATS.

#[macro_use]
mod ground;

use std::collections::BTreeSet;
use std::time::Duration;

use stoker_bus::{BODY_BYTES_MAX, Bus, BusError, KeepSettings, Keeper, Kept, Pattern};
use stoker_testkit::TestNats;
use tokio::time::{Instant, sleep, timeout};

use ground::{over_nats, subject, until_up};

const LONG: Duration = Duration::from_secs(20);
/// Long enough for something that is there to come.
const SHORT: Duration = Duration::from_millis(300);

fn settings() -> KeepSettings {
    KeepSettings {
        name: "RESULTS",
        subjects: Pattern::new(["agent", "*", "result"]).expect("a pattern"),
        takers: "servers",
        bytes_max: 1 << 20,
        age_max: Duration::from_mins(10),
        once_within: Duration::from_mins(1),
        taken_for: Duration::from_secs(2),
    }
}

async fn keeper(bus: &Bus) -> Keeper {
    bus.keeper(&settings()).await.expect("a keeper")
}

async fn keep(bus: &Bus, id: &str) {
    bus.keep(&subject("agent.7.result"), id, id.as_bytes().to_vec()).await.expect("kept");
}

async fn next(keeper: &mut Keeper) -> Kept {
    timeout(LONG, keeper.next()).await.expect("in time").expect("a message")
}

async fn is_nothing_there(keeper: &mut Keeper) -> bool {
    timeout(SHORT, keeper.next()).await.is_err()
}

on_both! {
    keeping:
    what_is_kept_waits_for_whoever_takes_it,
    what_nobody_keeps_is_not_kept,
    what_is_done_does_not_come_again,
    what_is_not_done_comes_again,
    what_is_to_come_again_waits_for_it_and_holds_up_nobody,
    what_is_said_twice_is_kept_once,
    those_who_share_get_each_message_once,
    what_is_too_large_is_refused,
    when_there_is_too_much_the_oldest_go,
    what_is_too_old_goes,
}

async fn what_is_kept_waits_for_whoever_takes_it(bus: Bus) {
    drop(keeper(&bus).await);
    bus.keep(&subject("agent.7.result"), "a", b"done".to_vec()).await.expect("kept");
    let mut keeper = keeper(&bus).await;
    let kept = next(&mut keeper).await;
    assert_eq!((kept.subject.as_str(), &kept.body[..], kept.n_times), ("agent.7.result", &b"done"[..], 1));
}

async fn what_nobody_keeps_is_not_kept(bus: Bus) {
    let refused = bus.keep(&subject("agent.7.result"), "a", vec![1]).await;
    assert!(matches!(refused, Err(BusError::Unkept(_))), "{refused:?}");
    let _keeper = keeper(&bus).await;
    let refused = bus.keep(&subject("agent.7.other"), "a", vec![1]).await;
    assert!(matches!(refused, Err(BusError::Unkept(_))), "{refused:?}");
    keep(&bus, "a").await;
}

async fn what_is_done_does_not_come_again(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for id in ["a", "b"] {
        keep(&bus, id).await;
        next(&mut keeper).await.done().await.expect("told");
    }
    sleep(settings().taken_for).await;
    assert!(is_nothing_there(&mut keeper).await);
}

async fn what_is_not_done_comes_again(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    drop(next(&mut keeper).await);
    assert!(is_nothing_there(&mut keeper).await, "somebody may be at it");
    let again = next(&mut keeper).await;
    assert_eq!((&again.body[..], again.n_times), (&b"a"[..], 2));
}

async fn what_is_to_come_again_waits_for_it_and_holds_up_nobody(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    let taken = next(&mut keeper).await;
    let began = Instant::now();
    taken.again(Duration::from_secs(1)).await.expect("told");
    keep(&bus, "b").await;
    let other = next(&mut keeper).await;
    assert_eq!(other.body, b"b");
    other.done().await.expect("told");
    let again = next(&mut keeper).await;
    assert_eq!(again.body, b"a");
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    again.done().await.expect("told");
}

async fn what_is_said_twice_is_kept_once(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for id in ["a", "a", "b", "a"] {
        keep(&bus, id).await;
    }
    let mut seen = Vec::new();
    for _ in 0..2 {
        let kept = next(&mut keeper).await;
        seen.extend(kept.body.clone());
        kept.done().await.expect("told");
    }
    assert_eq!(seen, b"ab");
    // Also when it was done long since.
    keep(&bus, "b").await;
    assert!(is_nothing_there(&mut keeper).await);
}

async fn those_who_share_get_each_message_once(bus: Bus) {
    let (mut one, mut other) = (keeper(&bus).await, keeper(&bus).await);
    for n in 0..200 {
        keep(&bus, &n.to_string()).await;
    }
    let mut seen = Vec::new();
    while seen.len() < 200 {
        let kept = timeout(LONG, async {
            tokio::select! {
                kept = one.next() => kept,
                kept = other.next() => kept,
            }
        });
        let kept = kept.await.expect("in time").expect("a message");
        seen.push(kept.body.clone());
        kept.done().await.expect("told");
    }
    let n_different = seen.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(n_different, 200);
    assert!(is_nothing_there(&mut one).await && is_nothing_there(&mut other).await);
}

async fn what_is_too_large_is_refused(bus: Bus) {
    let _keeper = keeper(&bus).await;
    let refused = bus.keep(&subject("agent.7.result"), "a", vec![0; BODY_BYTES_MAX + 1]).await;
    assert!(matches!(refused, Err(BusError::TooLarge { .. })), "{refused:?}");
}

async fn when_there_is_too_much_the_oldest_go(bus: Bus) {
    let mut keeper = keeper(&bus).await;
    for n in 0..10_u8 {
        let body = vec![n; 200 << 10];
        bus.keep(&subject("agent.7.result"), &n.to_string(), body).await.expect("kept");
    }
    let mut left = Vec::new();
    while let Ok(kept) = timeout(SHORT, keeper.next()).await {
        let kept = kept.expect("a message");
        left.push(kept.body[0]);
        kept.done().await.expect("told");
    }
    assert_eq!(left.last(), Some(&9), "{left:?}");
    assert!(left.len() <= 5 && !left.contains(&0), "{left:?}");
}

async fn what_is_too_old_goes(bus: Bus) {
    let (age_max, once_within) = (Duration::from_secs(1), Duration::from_secs(1));
    let brief = KeepSettings { name: "BRIEF", age_max, once_within, ..settings() };
    let mut keeper = bus.keeper(&brief).await.expect("a keeper");
    keep(&bus, "a").await;
    sleep(age_max * 2).await;
    assert!(is_nothing_there(&mut keeper).await);
    keep(&bus, "a").await;
    assert_eq!(next(&mut keeper).await.body, b"a", "its id is forgotten, too");
}

#[tokio::test]
async fn what_nats_keeps_survives_it() {
    let Some(mut server) = TestNats::keeping() else { return };
    let bus = over_nats(&server).await;
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    server.stop();
    server.start();
    until_up(&bus).await;
    let kept = loop {
        match timeout(LONG, keeper.next()).await.expect("in time") {
            Ok(kept) => break kept,
            // What the connection was asked for is lost with it, and is asked again.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    assert_eq!(kept.body, b"a");
}

#[tokio::test]
async fn what_nats_has_lost_is_noticed_and_kept_anew() {
    let Some(mut server) = TestNats::keeping() else { return };
    let bus = over_nats(&server).await;
    let mut lost = keeper(&bus).await;
    keep(&bus, "a").await;
    drop(next(&mut lost).await);
    server.stop();
    server.forget();
    server.start();
    until_up(&bus).await;
    let refused = timeout(LONG, async {
        loop {
            match lost.next().await {
                Err(BusError::Away(_)) => sleep(Duration::from_millis(50)).await,
                other => break other.map(drop),
            }
        }
    });
    assert!(matches!(refused.await.expect("in time"), Err(BusError::Unkept(_))));
    assert!(matches!(bus.keep(&subject("agent.7.result"), "b", vec![1]).await, Err(BusError::Unkept(_))));
    let mut keeper = keeper(&bus).await;
    keep(&bus, "a").await;
    assert_eq!(next(&mut keeper).await.body, b"a");
}

#[tokio::test]
async fn a_nats_that_keeps_nothing_says_so_and_one_that_is_away_too() {
    let Some(mut server) = TestNats::open() else { return };
    let bus = over_nats(&server).await;
    let refused = bus.keeper(&settings()).await.map(drop);
    assert!(matches!(&refused, Err(BusError::Unkept(why)) if why.contains("JetStream")), "{refused:?}");
    assert!(matches!(bus.keep(&subject("agent.7.result"), "a", vec![1]).await, Err(BusError::Unkept(_))));
    server.stop();
    let noticed = async {
        while bus.is_up() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, noticed).await.expect("it is noticed");
    assert!(matches!(bus.keep(&subject("agent.7.result"), "a", vec![1]).await, Err(BusError::Away(_))));
}
