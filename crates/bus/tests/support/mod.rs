//! Shared helpers of the bus test suites.

use std::time::Duration;

use stoker_bus::{Bus, NatsBus, NatsOptions, Subject};
use stoker_testkit::TestNats;
use tokio::time::{sleep, timeout};

pub(crate) fn subject(text: &str) -> Subject {
    Subject::new(text.split('.')).expect("a subject")
}

pub(crate) async fn over_nats(server: &TestNats) -> Bus {
    let bus = Bus::Nats(NatsBus::connect(&NatsOptions::new(server.url())).await.expect("an address"));
    until_up(&bus).await;
    bus
}

pub(crate) async fn until_up(bus: &Bus) {
    let waiting = async {
        while !bus.is_connected() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), waiting).await.expect("NATS is up");
}

/// Runs each function of a suite on each transport; `$start` starts the NATS server that it needs.
macro_rules! on_both {
    ($start:ident: $($name:ident),* $(,)?) => {
        mod memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(stoker_bus::Bus::Memory(stoker_bus::MemoryBus::default())).await;
            })*
        }
        mod nats {
            $(#[tokio::test]
            async fn $name() {
                let Some(server) = stoker_testkit::TestNats::$start() else { return };
                super::$name(crate::support::over_nats(&server).await).await;
            })*
        }
    };
}
