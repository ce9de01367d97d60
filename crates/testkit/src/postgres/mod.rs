//! A private PostgreSQL server for all tests of a run.
//!
//! nextest starts one process per test, and a server takes longer to start than most tests to run: the first test that
//! needs the server starts it, all others connect to it. Every test process holds a shared file lock until it exits; a
//! watcher stops the server when no process holds the lock. Each test gets a separate database, cloned from a template
//! with all migrations applied.

mod own;
mod programs;
mod server;

use std::sync::atomic::{AtomicU32, Ordering};

use stoker_store::{Database, Store};

pub use own::PrivatePostgres;
use programs::Programs;
use server::Server;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A database with all tables and no rows. [`TestDatabase::drop_database`] drops it; otherwise it is deleted with the server.
pub struct TestDatabase {
    server: Server,
    name: String,
}

impl TestDatabase {
    /// Creates a database; `None` if `STOKER_TEST_SKIP` lists `postgres`.
    pub async fn create() -> Option<Self> {
        if stoker_testenv::exclude("postgres") {
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

    pub fn drop_database(self) {
        self.server.drop_database(&self.name);
    }
}

/// Returns the name of the template database, which is migrated by this build of the store and shared by its
/// test processes.
async fn template(server: &Server) -> String {
    let name = format!("template_{}", build_id());
    let _guard = server.lock_exclusive();
    if server.has_mark(&name) {
        return name;
    }
    server.drop_database(&name);
    server.create_database(&name, None);
    let store = Store::open(&server.database(&name)).await.expect("cannot migrate the template database");
    store.close().await;
    server.set_mark(&name);
    name
}

/// Identifies this test binary: another build may have other migrations.
fn build_id() -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let path = std::env::current_exe().expect("the path of the running program is known");
    let modified = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
    let mut hasher = DefaultHasher::new();
    (path, modified).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
