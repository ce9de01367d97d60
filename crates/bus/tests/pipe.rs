//! Conversations over each bus: everything arrives in order, or it ends.

#[macro_use]
mod ground;

use std::time::Duration;

use stoker_bus::{Bus, Pattern, Pipe, PipeEnded, PipeSettings};
use stoker_testkit::TestNats;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use ground::{over_nats, subject};

const SETTINGS: PipeSettings = PipeSettings {
    ping_every: Duration::from_millis(100),
    silence_max: Duration::from_secs(1),
    bytes_max: 8 << 20,
};

struct End {
    send: mpsc::Sender<Vec<u8>>,
    receive: mpsc::Receiver<Vec<u8>>,
    carrying: JoinHandle<PipeEnded>,
}

impl End {
    fn of(pipe: Pipe) -> Self {
        let (received, receive) = mpsc::channel(4);
        let (send, sending) = mpsc::channel(4);
        Self { send, receive, carrying: tokio::spawn(pipe.carry(received, sending)) }
    }

    async fn next(&mut self) -> Vec<u8> {
        timeout(Duration::from_secs(20), self.receive.recv()).await.expect("in time").expect("a message")
    }

    async fn ended(self) -> PipeEnded {
        timeout(Duration::from_secs(20), self.carrying).await.expect("in time").expect("no panic")
    }
}

/// Both ends, the second of which is answered by the first.
async fn pair(bus: &Bus) -> (End, End) {
    let mut door = bus.subscribe(&Pattern::from(subject("door"))).await.expect("listens");
    let calling = bus.clone();
    let called = tokio::spawn(async move { call(&calling).await });
    assert_eq!(door.next().await.expect("a call").body, b"knock");
    let answered = Pipe::answer(bus.clone(), subject("in"), subject("out"), SETTINGS).await;
    let called = called.await.expect("no panic").expect("an answer");
    (End::of(answered.expect("answered")), End::of(called))
}

async fn call(bus: &Bus) -> Option<Pipe> {
    let between = (subject("out"), subject("in"));
    let time_max = Duration::from_secs(20);
    let door = subject("door");
    let called = Pipe::call(bus.clone(), &door, b"knock".to_vec(), between, SETTINGS, time_max);
    called.await.expect("the bus is there")
}

on_both! {
    open:
    messages_of_all_sizes_arrive_in_order_both_ways,
    a_side_that_does_not_read_makes_the_other_wait_and_loses_nothing,
    a_gap_ends_it,
    a_lost_end_is_noticed,
    silence_ends_it,
    who_calls_where_nobody_is_learns_it_at_once,
    a_side_that_vanishes_is_missed_at_the_next_word,
    an_end_is_told_to_the_other_side,
    what_is_too_large_ends_it,
}

async fn messages_of_all_sizes_arrive_in_order_both_ways(bus: Bus) {
    let (mut one, mut other) = pair(&bus).await;
    for n_bytes in [0, 1, 1000, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 5 << 20] {
        let message: Vec<u8> = (0..n_bytes).map(|n: usize| (n % 251) as u8).collect();
        one.send.send(message.clone()).await.expect("sent");
        other.send.send(message.clone()).await.expect("sent");
        assert!(other.next().await == message, "{n_bytes}");
        assert!(one.next().await == message, "{n_bytes}");
    }
    for n in 0..2000_u32 {
        one.send.send(n.to_le_bytes().to_vec()).await.expect("sent");
        assert_eq!(other.next().await, n.to_le_bytes());
    }
}

async fn a_side_that_does_not_read_makes_the_other_wait_and_loses_nothing(bus: Bus) {
    let (one, mut other) = pair(&bus).await;
    let sending = one.send.clone();
    let sender = tokio::spawn(async move {
        for n in 0..1000_u32 {
            sending.send(n.to_le_bytes().to_vec()).await.expect("sent");
        }
    });
    // Longer than silence may be.
    sleep(Duration::from_millis(1500)).await;
    assert!(!sender.is_finished(), "it has to wait");
    for n in 0..1000_u32 {
        assert_eq!(other.next().await, n.to_le_bytes());
    }
    sender.await.expect("no panic");
}

async fn a_gap_ends_it(bus: Bus) {
    let (one, other) = pair(&bus).await;
    // Number 7, where number 0 is next.
    let mut forged = vec![3];
    forged.extend_from_slice(&7_u64.to_be_bytes());
    forged.extend_from_slice(&0_u64.to_be_bytes());
    bus.publish(&subject("in"), forged).await.expect("sent");
    assert_eq!(other.ended().await, PipeEnded::Broken("a message is missing"));
    drop(one);
}

async fn a_lost_end_is_noticed(bus: Bus) {
    let (one, other) = pair(&bus).await;
    // The other side says that it sent two pieces that never came.
    let mut forged = vec![4];
    forged.extend_from_slice(&2_u64.to_be_bytes());
    forged.extend_from_slice(&0_u64.to_be_bytes());
    bus.publish(&subject("out"), forged).await.expect("sent");
    assert_eq!(one.ended().await, PipeEnded::Broken("a message is missing"));
    drop(other);
}

async fn silence_ends_it(bus: Bus) {
    // Somebody who listens and says nothing.
    let _mute = bus.subscribe(&Pattern::from(subject("in"))).await.expect("listens");
    let (one, other) = pair(&bus).await;
    other.carrying.abort();
    assert_eq!(one.ended().await, PipeEnded::Broken("nothing is heard"));
}

async fn who_calls_where_nobody_is_learns_it_at_once(bus: Bus) {
    let called = timeout(Duration::from_secs(5), call(&bus)).await.expect("sooner than it would wait");
    assert!(called.is_none());
}

async fn a_side_that_vanishes_is_missed_at_the_next_word(bus: Bus) {
    let (one, other) = pair(&bus).await;
    other.carrying.abort();
    assert_eq!(one.ended().await, PipeEnded::Broken("nobody listens any more"));
}

async fn an_end_is_told_to_the_other_side(bus: Bus) {
    let (one, other) = pair(&bus).await;
    let End { send, receive, carrying } = one;
    drop((send, receive));
    assert_eq!(other.ended().await, PipeEnded::There);
    assert_eq!(carrying.await.expect("no panic"), PipeEnded::Here);
}

async fn what_is_too_large_ends_it(bus: Bus) {
    let (one, other) = pair(&bus).await;
    one.send.send(vec![0; (8 << 20) + 1]).await.expect("sent");
    assert_eq!(other.ended().await, PipeEnded::Broken("a message is too large"));
}

#[tokio::test]
async fn a_nats_that_goes_away_ends_it() {
    let Some(mut server) = TestNats::open() else { return };
    let bus = over_nats(&server).await;
    let (one, other) = pair(&bus).await;
    server.stop();
    assert!(matches!(one.ended().await, PipeEnded::Broken(_)));
    assert!(matches!(other.ended().await, PipeEnded::Broken(_)));
}
