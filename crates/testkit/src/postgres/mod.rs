//! A private PostgreSQL for all tests of a run.
//!
//! nextest starts a process for each test, and a server takes longer to start than most tests to run: so the
//! first test that needs it starts one, and all others find it. Every test process holds a shared lock on a file for
//! as long as it lives, however it ends; when nobody holds it any more a watcher stops the server. Each test gets a
//! database of its own, a copy of one that has been brought up to date.

mod own;
mod programs;
mod server;

use std::sync::atomic::{AtomicU32, Ordering};

use stoker_store::{Database, Store};

pub use own::OwnPostgres;
use programs::Programs;
use server::Server;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// An empty database with all tables. [`TestDatabase::remove`] takes it away; else it goes with the server.
pub struct TestDatabase {
    server: Server,
    name: String,
}

impl TestDatabase {
    /// `None` when tests of PostgreSQL are left out on purpose.
    pub async fn create() -> Option<Self> {
        if is_left_out() {
            return None;
        }
        let programs = Programs::find().unwrap_or_else(|message| panic!("{message}"));
        let server = Server::join(programs);
        let template = template(&server).await;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        server.create_database(&name, Some(&template));
        Some(Self { server, name })
    }

    pub fn database(&self) -> Database {
        self.server.database(&self.name)
    }

    pub fn remove(self) {
        self.server.drop_database(&self.name);
    }
}

#[expect(clippy::disallowed_methods, reason = "the switch of a test run is in its environment")]
fn is_left_out() -> bool {
    let skip = std::env::var("STOKER_TEST_SKIP").unwrap_or_default();
    skip.split(',').any(|name| name.trim() == "postgres")
}

/// The name of a database with all tables as this very program makes them.
async fn template(server: &Server) -> String {
    let name = format!("template_{}", this_program());
    let _turn = server.turn();
    if server.has_mark(&name) {
        return name;
    }
    server.drop_database(&name);
    server.create_database(&name, None);
    let store = Store::open(&server.database(&name)).await.expect("the template cannot be made");
    store.close().await;
    server.set_mark(&name);
    name
}

/// Another build may have other tables.
fn this_program() -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let path = std::env::current_exe().expect("a program knows where it is");
    let built = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
    let mut hasher = DefaultHasher::new();
    (path, built).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
