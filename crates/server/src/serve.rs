//! The service on a socket, until somebody says stop.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use stoker_orchestrator::AgentSpawner;
use stoker_orchestrator::lifecycle;
use stoker_services::database::{self, DatabaseFolderError};
use stoker_settings::Server;
use stoker_store::{OpenError, Store};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::access::first_start::{ADMIN, FirstStart, FirstStartFailed};
use crate::connections;
use crate::router::service;
use crate::state::App;

/// For whoever listens to a network in the clear.
const WARNING: &str = "Warning: passwords, tokens and secrets of tasks cross the network unencrypted. Make a certificate \
    authority (`stoker ca init --dir DIR`) and start with `--ca-dir DIR`, or put a proxy that speaks TLS in front";

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot start")]
    Runtime(#[source] std::io::Error),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Folder(#[from] DatabaseFolderError),
    #[error("cannot open the database")]
    Open(#[from] OpenError),
    #[error("cannot make the first user")]
    FirstStart(#[from] FirstStartFailed),
    #[error("the listener failed")]
    Listener(#[source] std::io::Error),
}

/// Of each thread of the runtime: a run is carried out many calls deep, and without optimisation each of them is large.
const STACK_BYTES: usize = 8 << 20;

/// The whole life of a server; `spawner` starts agents in its process, `tell` gets lines for the person who started it.
pub fn run(settings: Server, spawner: AgentSpawner, tell: &mut dyn FnMut(&str)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    connections::raise_file_limit();
    runtime.block_on(async {
        // Bound first: a port that is taken should not cost a migration.
        let address = settings.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| ServeError::Listen { address, source })?;
        let store = Store::open(&database::of_location(&settings.database)?).await?;
        let (app, first_start) = App::new(store, settings).await?;
        app.set_agent_spawner(spawner);
        let stop = stop_signal().map_err(ServeError::Runtime)?;
        announce(&app, &first_start, &listener, tell);
        Box::pin(serve(app, listener, stop)).await
    })
}

/// Answers requests until `stop` is done; requests under way are finished first, within limits.
pub async fn serve(
    app: App,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    if let Ok(address) = listener.local_addr() {
        app.services.repositories.access.listens_on(address);
    }
    app.begin_runs();
    app.begin_maintenance();
    let stopping = app.orchestrator.clone();
    // Streams of events are requests in flight: they would hold up the end.
    let stop = async move {
        stop.await;
        lifecycle::stop(&stopping);
        lifecycle::hand_over(&stopping).await;
    };
    let tls = app.tls.as_ref().map(|tls| Arc::clone(&tls.config));
    let served = connections::serve(service(&app), listener, tls, stop).await;
    app.end_runs();
    lifecycle::drained(&app.orchestrator).await;
    app.store.close().await;
    let tracer = app.orchestrator.context.tracer.clone();
    // It blocks; and if it cannot be waited for, nothing is lost but spans.
    _ = tokio::task::spawn_blocking(move || tracer.end()).await;
    served.map_err(ServeError::Listener)
}

fn announce(app: &App, first_start: &FirstStart, listener: &TcpListener, tell: &mut dyn FnMut(&str)) {
    if let FirstStart::Generated { password } = first_start {
        tell(&format!("First start. Log in as `{ADMIN}` with this password, which is shown only once:"));
        tell(&format!("  {password}"));
    }
    let Ok(address) = listener.local_addr() else { return };
    let scheme = if let Some(tls) = &app.tls {
        if let Some(names) = tls.own_names() {
            let names = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            tell(&format!("The certificate of this server is for {names}; `--tls-name` adds others"));
        }
        if let Some(authority) = &tls.authority {
            tell(&format!("Agents trust it with `--ca-fingerprint {}`", authority.fingerprint()));
        }
        "https"
    } else {
        if !address.ip().is_loopback() {
            tell(WARNING);
        }
        "http"
    };
    tell(&format!("Stoker listens on {scheme}://{address} (the API: {scheme}://{address}/api/v1/docs)"));
}

/// Done when somebody asks the process to end.
fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
