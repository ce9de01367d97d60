//! What every bus does, whatever carries it.

use stoker_bus::{Bus, Memory, Pattern, Subject};

fn subject(text: &str) -> Subject {
    Subject::new(text.split('.')).expect("a subject")
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text.split('.')).expect("a pattern")
}

#[tokio::test]
async fn messages_arrive_in_order_at_all_who_listen() {
    let bus = Bus::Memory(Memory::default());
    let mut one = bus.subscribe(&pattern("a.*")).await.expect("listens");
    let mut other = bus.subscribe(&pattern(">")).await.expect("listens");
    for n in 0..100_u8 {
        bus.publish(&subject("a.b"), vec![n]).await.expect("sent");
    }
    for n in 0..100_u8 {
        assert_eq!(one.next().await.expect("a message").body, [n]);
        assert_eq!(other.next().await.expect("a message").body, [n]);
    }
}
