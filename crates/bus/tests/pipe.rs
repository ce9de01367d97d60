//! Pipes over each transport: everything arrives in order, or the pipe breaks.

use std::time::Duration;

use stoker_bus::{Bus, Pipe, PipeClosed, PipeSettings, SubjectPattern};
use stoker_testkit::TestNats;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::support::{over_nats, subject};

const SETTINGS: PipeSettings = PipeSettings {
    ping_interval: Duration::from_millis(100),
    silence_timeout: Duration::from_secs(1),
    bytes_max: 8 << 20,
};

struct End {
    send: mpsc::Sender<Vec<u8>>,
    receive: mpsc::Receiver<Vec<u8>>,
    carrying: JoinHandle<PipeClosed>,
}

impl End {
    fn of(pipe: Pipe) -> Self {
        let (received, receive) = mpsc::channel(4);
        let (send, sending) = mpsc::channel(4);
        Self { send, receive, carrying: tokio::spawn(pipe.run(received, sending)) }
    }

    async fn next(&mut self) -> Vec<u8> {
        timeout(Duration::from_secs(20), self.receive.recv()).await.expect("in time").expect("a message")
    }

    async fn ended(self) -> PipeClosed {
        timeout(Duration::from_secs(20), self.carrying).await.expect("in time").expect("no panic")
    }
}

/// Returns both ends; the first accepts the connection of the second.
async fn pair(bus: &Bus) -> (End, End) {
    let mut door = bus.subscribe(&SubjectPattern::from(subject("door"))).await.expect("listens");
    let calling = bus.clone();
    let called = tokio::spawn(async move { call(&calling).await });
    assert_eq!(door.next().await.expect("a call").body, b"knock");
    let answered = Pipe::accept(bus.clone(), subject("in"), subject("out"), SETTINGS).await;
    let called = called.await.expect("no panic").expect("an answer");
    (End::of(answered.expect("answered")), End::of(called))
}

async fn call(bus: &Bus) -> Option<Pipe> {
    let (to, here) = (subject("out"), subject("in"));
    let time_max = Duration::from_secs(20);
    let door = subject("door");
    let called = Pipe::connect(bus.clone(), &door, b"knock".to_vec(), to, here, SETTINGS, time_max);
    called.await.expect("the bus is up")
}

on_both! {
    start_open:
    messages_of_all_sizes_arrive_in_order,
    slow_reader_causes_back_pressure,
    gap_breaks_the_pipe,
    lost_last_piece_is_detected,
    silence_timeout_breaks_the_pipe,
    call_without_listener_fails_immediately,
    vanished_peer_is_detected_on_send,
    close_is_sent_to_the_peer,
    oversized_message_breaks_the_pipe,
}

async fn messages_of_all_sizes_arrive_in_order(bus: Bus) {
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

async fn slow_reader_causes_back_pressure(bus: Bus) {
    let (one, mut other) = pair(&bus).await;
    let sending = one.send.clone();
    let sender = tokio::spawn(async move {
        for n in 0..1000_u32 {
            sending.send(n.to_le_bytes().to_vec()).await.expect("sent");
        }
    });
    // Wait longer than the silence timeout.
    sleep(Duration::from_millis(1500)).await;
    assert!(!sender.is_finished(), "blocked by back-pressure");
    for n in 0..1000_u32 {
        assert_eq!(other.next().await, n.to_le_bytes());
    }
    sender.await.expect("no panic");
}

async fn gap_breaks_the_pipe(bus: Bus) {
    let (one, other) = pair(&bus).await;
    // Sequence number 7 where 0 is expected.
    let mut forged = vec![3];
    forged.extend_from_slice(&7_u64.to_be_bytes());
    forged.extend_from_slice(&0_u64.to_be_bytes());
    bus.publish(&subject("in"), forged).await.expect("sent");
    assert_eq!(other.ended().await, PipeClosed::Broken("a message was lost"));
    drop(one);
}

async fn lost_last_piece_is_detected(bus: Bus) {
    let (one, other) = pair(&bus).await;
    // The peer reports two sent pieces that never arrived.
    let mut forged = vec![4];
    forged.extend_from_slice(&2_u64.to_be_bytes());
    forged.extend_from_slice(&0_u64.to_be_bytes());
    bus.publish(&subject("out"), forged).await.expect("sent");
    assert_eq!(one.ended().await, PipeClosed::Broken("a message was lost"));
    drop(other);
}

async fn silence_timeout_breaks_the_pipe(bus: Bus) {
    // A peer that subscribes but sends nothing.
    let _mute = bus.subscribe(&SubjectPattern::from(subject("in"))).await.expect("listens");
    let (one, other) = pair(&bus).await;
    other.carrying.abort();
    assert_eq!(one.ended().await, PipeClosed::Broken("silence timeout"));
}

async fn call_without_listener_fails_immediately(bus: Bus) {
    let called = timeout(Duration::from_secs(5), call(&bus)).await.expect("before the timeout");
    assert!(called.is_none());
}

async fn vanished_peer_is_detected_on_send(bus: Bus) {
    let (one, other) = pair(&bus).await;
    other.carrying.abort();
    assert_eq!(one.ended().await, PipeClosed::Broken("the peer has unsubscribed"));
}

async fn close_is_sent_to_the_peer(bus: Bus) {
    let (one, other) = pair(&bus).await;
    let End { send, receive, carrying } = one;
    drop((send, receive));
    assert_eq!(other.ended().await, PipeClosed::Peer);
    assert_eq!(carrying.await.expect("no panic"), PipeClosed::Local);
}

async fn oversized_message_breaks_the_pipe(bus: Bus) {
    let (one, other) = pair(&bus).await;
    one.send.send(vec![0; (8 << 20) + 1]).await.expect("sent");
    assert_eq!(other.ended().await, PipeClosed::Broken("a message is too large"));
}

#[tokio::test]
async fn nats_outage_breaks_the_pipe() {
    let Some(mut server) = TestNats::start_open() else { return };
    let bus = over_nats(&server).await;
    let (one, other) = pair(&bus).await;
    server.kill();
    assert!(matches!(one.ended().await, PipeClosed::Broken(_)));
    assert!(matches!(other.ended().await, PipeClosed::Broken(_)));
}
