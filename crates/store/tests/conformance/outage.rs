//! Outages: if the database is unreachable, hangs or rejects connections, operations fail in time and as
//! transient.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stoker_model::Actor;
use stoker_store::{Database, List, OpenError, Store, StoreError, Timeouts};

use crate::fixture::{Fixture, NOW, commit, tenant};

const SHORT: Timeouts =
    Timeouts { acquire: Duration::from_millis(400), statement: Duration::from_millis(600) };
/// Timeout of each operation. Generous because the machine may be busy; without timeouts these tests would
/// hang.
const SOON: Duration = Duration::from_secs(20);

fn is_outage(error: &OpenError) -> bool {
    matches!(error, OpenError::Store(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_server_is_an_outage() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [closed, silent.local_addr().unwrap()] {
        let started = Instant::now();
        let database = Database::Postgres { url: format!("postgres://stoker@{address}/x") };
        let error = Store::open_with(&database, SHORT).await.map(drop).unwrap_err();
        assert!(is_outage(&error), "{error:?}");
        assert!(started.elapsed() < SOON);
    }
}

#[tokio::test]
async fn invalid_locations_fail_to_open() {
    let folder = stoker_testkit::TempFolder::new();
    std::fs::write(
        folder.file("text"),
        "this is no database, though it is long enough for a header. ".repeat(99),
    )
    .unwrap();
    for path in [folder.file("text"), folder.file("no/such/folder/x.db"), folder.path().to_owned()] {
        let opened = Store::open(&Database::Sqlite { path }).await.map(drop);
        assert!(opened.is_err());
    }
    for url in ["", "nonsense", "mysql://x/y", "postgres://[::1:5432/x"] {
        let opened = Store::open_with(&Database::Postgres { url: url.to_owned() }, SHORT).await;
        assert!(opened.map(drop).is_err(), "{url}");
    }
    assert_eq!(std::fs::read(folder.file("text")).unwrap()[..4], *b"this");
}

#[tokio::test(flavor = "multi_thread")]
async fn stuck_writer_blocks_others_until_timeout() {
    let fixture = Fixture::sqlite().await;
    let store = Store::open_with(&fixture.database, SHORT).await.unwrap();
    let mut held = store.begin_write(&Actor::server(), NOW).await.unwrap();
    tenant(&mut held, "red").await;
    let started = Instant::now();
    assert_error!(store.begin_write(&Actor::server(), NOW).await.map(drop), StoreError::Unavailable(_));
    // A second process, which has a separate store, gets the same error.
    let other = Store::open_with(&fixture.database, SHORT).await;
    if let Ok(other) = &other {
        assert_error!(other.begin_write(&Actor::server(), NOW).await.map(drop), StoreError::Unavailable(_));
    }
    assert!(started.elapsed() < SOON);
    // Readers do not wait for the writer.
    assert_eq!(store.read().await.unwrap().tenant_list(&List::default()).await.unwrap().total, 0);
    commit(held).await;
    store.begin_write(&Actor::server(), NOW).await.unwrap();
    fixture.remove().await;
}

/// TCP proxy in front of the server that can drop packets or close connections.
struct Proxy {
    address: SocketAddr,
    drops_packets: Arc<AtomicBool>,
    closes: Arc<AtomicBool>,
}

impl Proxy {
    fn in_front_of(url: &str) -> (Self, String) {
        let port: u16 = url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (drops_packets, closes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let flags = (Arc::clone(&drops_packets), Arc::clone(&closes));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let flags = flags.clone();
                    std::thread::spawn(move || forward(from, to, &flags.0, &flags.1));
                }
            }
        });
        let url = url.replace(&format!(":{port}/"), &format!(":{}/", address.port()));
        (Self { address, drops_packets, closes }, url)
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, drops_packets: &AtomicBool, closes: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(n_bytes) = from.read(&mut buffer) {
        if n_bytes == 0 || closes.load(Ordering::SeqCst) {
            break;
        }
        if !drops_packets.load(Ordering::SeqCst) && to.write_all(&buffer[..n_bytes]).is_err() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_packets_are_a_transient_outage() {
    let Some(fixture) = Fixture::postgres().await else { return };
    let Database::Postgres { url } = &fixture.database else { panic!("not PostgreSQL") };
    let (proxy, url) = Proxy::in_front_of(url);
    assert!(url.contains(&proxy.address.port().to_string()));
    let patience = Timeouts { acquire: Duration::from_secs(3), ..SHORT };
    let store = Store::open_with(&Database::Postgres { url }, patience).await.unwrap();
    let mut session = store.read().await.unwrap();
    let mut writing = store.begin_write(&Actor::server(), NOW).await.unwrap();
    tenant(&mut writing, "red").await;

    proxy.drops_packets.store(true, Ordering::SeqCst);
    let started = Instant::now();
    assert_error!(session.tenant_list(&List::default()).await, StoreError::Unavailable(_));
    let lost = writing.commit(crate::fixture::change("tenant.create")).await;
    assert_error!(lost, StoreError::Unavailable(_));
    assert_error!(store.ping().await, StoreError::Unavailable(_));
    drop(session);
    assert!(started.elapsed() < SOON);

    proxy.drops_packets.store(false, Ordering::SeqCst);
    wait_until_reachable(&store).await;
    store.read().await.unwrap().tenant_list(&List::default()).await.unwrap();

    // A closed connection is detected immediately.
    let mut session = store.read().await.unwrap();
    proxy.closes.store(true, Ordering::SeqCst);
    assert_error!(session.tenant_list(&List::default()).await, StoreError::Unavailable(_));
    proxy.closes.store(false, Ordering::SeqCst);
    drop(session);
    wait_until_reachable(&store).await;
    store.close().await;
    fixture.remove().await;
}

async fn wait_until_reachable(store: &Store) {
    let started = Instant::now();
    while store.ping().await.is_err() {
        assert!(started.elapsed() < SOON, "the store does not recover");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
