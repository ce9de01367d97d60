//! Fixtures of unit tests.

use std::sync::Arc;

use serde_json::json;
use stoker_model::{Actor, AuditChange, Micros, NewRun, RunId, RunName, RunStatus};
use stoker_services::{Clock, Environment, Services};
use stoker_settings::{Modules, Server};
use stoker_store::{Database, Store};
use stoker_testkit::TempFolder;
use stoker_traces::Tracer;

use crate::context::OrchestratorContext;
use crate::orchestrator::Orchestrator;

/// Returns an orchestrator with an embedded database in this folder.
pub(crate) async fn orchestrator(folder: &TempFolder) -> Orchestrator {
    let store = Store::open(&Database::Sqlite { path: folder.file("stoker.db") }).await.unwrap();
    let settings = Arc::new(Server {
        modules: Modules { key_file: folder.file("modules.key"), ..Modules::default() },
        plugins_root: folder.file("plugins"),
        ..Server::default()
    });
    let (clock, tracer) = (Clock, Tracer::default());
    let services = Services::open(Environment {
        store: store.clone(),
        settings: Arc::clone(&settings),
        clock,
        tracer: tracer.clone(),
        is_encrypted: false,
        authority: None,
    });
    let context = OrchestratorContext {
        services: services.await.unwrap(),
        store,
        settings,
        clock,
        tracer,
        owner: "embedded".to_owned(),
        is_shared: false,
        started_at: clock.now(),
    };
    Orchestrator::open(context, Box::new(|| {})).await.unwrap()
}

/// Creates a run without a cluster.
pub(crate) async fn create_run(orchestrator: &Orchestrator, status: RunStatus) -> RunId {
    let store = &orchestrator.context.store;
    let mut writing = store.begin_write(&Actor::server(), Micros(1)).await.unwrap();
    let new = NewRun::new(status.to_string(), RunName::Modules, status);
    let id = writing.run_create(&new).await.unwrap().id;
    writing
        .commit(AuditChange { action: "run.start", target: String::new(), detail: json!({}) })
        .await
        .unwrap();
    id
}
