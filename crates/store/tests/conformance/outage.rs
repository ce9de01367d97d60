//! A database that is away, hangs or refuses: an answer comes in time, and it says that trying again helps.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use stoker_model::Actor;
use stoker_store::{Database, List, OpenError, Patience, Store, StoreError};

use crate::ground::{Ground, NOW, commit, tenant};

const SHORT: Patience =
    Patience { connection: Duration::from_millis(400), statement: Duration::from_millis(600) };
/// Generous: the machine may be busy. Without limits these tests would wait for ever.
const SOON: Duration = Duration::from_secs(20);

fn is_outage(error: &OpenError) -> bool {
    matches!(error, OpenError::Store(StoreError::Unavailable(_)))
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there() {
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
async fn places_where_no_database_can_be() {
    let folder = stoker_testkit::Folder::new();
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
async fn a_writer_that_does_not_end_holds_up_others_for_a_while_only() {
    let ground = Ground::sqlite().await;
    let store = Store::open_with(&ground.database, SHORT).await.unwrap();
    let mut held = store.change(&Actor::server(), NOW).await.unwrap();
    tenant(&mut held, "red").await;
    let started = Instant::now();
    assert_error!(store.change(&Actor::server(), NOW).await.map(drop), StoreError::Unavailable(_));
    // From another program, too.
    let other = Store::open_with(&ground.database, SHORT).await;
    if let Ok(other) = &other {
        assert_error!(other.change(&Actor::server(), NOW).await.map(drop), StoreError::Unavailable(_));
    }
    assert!(started.elapsed() < SOON);
    // Readers are not held up at all.
    assert_eq!(store.read().await.unwrap().tenant_list(&List::default()).await.unwrap().total, 0);
    commit(held).await;
    store.change(&Actor::server(), NOW).await.unwrap();
    ground.remove().await;
}

/// Between us and the server: passes everything on, until it swallows it or hangs up.
struct Middleman {
    address: SocketAddr,
    swallows: Arc<AtomicBool>,
    hangs_up: Arc<AtomicBool>,
}

impl Middleman {
    fn before(url: &str) -> (Self, String) {
        let port: u16 = url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (swallows, hangs_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let flags = (Arc::clone(&swallows), Arc::clone(&hangs_up));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let flags = flags.clone();
                    std::thread::spawn(move || pass_on(from, to, &flags.0, &flags.1));
                }
            }
        });
        let url = url.replace(&format!(":{port}/"), &format!(":{}/", address.port()));
        (Self { address, swallows, hangs_up }, url)
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, swallows: &AtomicBool, hangs_up: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(n_bytes) = from.read(&mut buffer) {
        if n_bytes == 0 || hangs_up.load(Ordering::SeqCst) {
            break;
        }
        if !swallows.load(Ordering::SeqCst) && to.write_all(&buffer[..n_bytes]).is_err() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_swallows_packets_is_an_outage_that_passes() {
    let Some(ground) = Ground::postgres().await else { return };
    let Database::Postgres { url } = &ground.database else { panic!("not PostgreSQL") };
    let (middleman, url) = Middleman::before(url);
    assert!(url.contains(&middleman.address.port().to_string()));
    let patience = Patience { connection: Duration::from_secs(3), ..SHORT };
    let store = Store::open_with(&Database::Postgres { url }, patience).await.unwrap();
    let mut session = store.read().await.unwrap();
    let mut writing = store.change(&Actor::server(), NOW).await.unwrap();
    tenant(&mut writing, "red").await;

    middleman.swallows.store(true, Ordering::SeqCst);
    let started = Instant::now();
    assert_error!(session.tenant_list(&List::default()).await, StoreError::Unavailable(_));
    let lost = writing.commit(crate::ground::change("tenant.create")).await;
    assert_error!(lost, StoreError::Unavailable(_));
    assert_error!(store.ping().await, StoreError::Unavailable(_));
    drop(session);
    assert!(started.elapsed() < SOON);

    middleman.swallows.store(false, Ordering::SeqCst);
    until_it_answers(&store).await;
    store.read().await.unwrap().tenant_list(&List::default()).await.unwrap();

    // A server that hangs up is noticed at once.
    let mut session = store.read().await.unwrap();
    middleman.hangs_up.store(true, Ordering::SeqCst);
    assert_error!(session.tenant_list(&List::default()).await, StoreError::Unavailable(_));
    middleman.hangs_up.store(false, Ordering::SeqCst);
    drop(session);
    until_it_answers(&store).await;
    store.close().await;
    ground.remove().await;
}

async fn until_it_answers(store: &Store) {
    let started = Instant::now();
    while store.ping().await.is_err() {
        assert!(started.elapsed() < SOON, "it does not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
