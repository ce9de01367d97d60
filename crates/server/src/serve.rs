//! Lifecycle of a server process: start, serve until a signal, graceful shutdown.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use stoker_orchestrator::AgentSpawner;
use stoker_orchestrator::lifecycle;
use stoker_services::database::{self, DatabaseFolderError};
use stoker_settings::Server;
use stoker_store::{OpenError, Store};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::access::first_start::{ADMIN, FirstStart};
use crate::connections;
use crate::router::service;
use crate::state::{App, AppError};

/// Warning that is printed when listening on a network without TLS.
const WARNING: &str = "Warning: passwords, tokens and task secrets cross the network unencrypted. Create a certificate \
    authority (`stoker ca init --dir DIR`) and start with `--ca-dir DIR`, or use a TLS proxy";

/// Error that prevents the server from starting or terminates it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot start the runtime")]
    Runtime(#[source] std::io::Error),
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Folder(#[from] DatabaseFolderError),
    #[error("cannot open the database")]
    Open(#[from] OpenError),
    #[error(transparent)]
    App(#[from] AppError),
    #[error("the listener failed")]
    Listener(#[source] std::io::Error),
}

/// Stack size of runtime threads: drivers nest many calls, whose frames are large without optimization.
const STACK_BYTES: usize = 8 << 20;

/// Maximum time to wait for blocking threads on exit.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(1);

/// Runs a server until it is stopped. `spawner` starts agents in its process, `print` prints lines for the
/// operator.
pub fn run(settings: Server, spawner: AgentSpawner, print: &mut dyn FnMut(&str)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    connections::raise_file_limit();
    let served = runtime.block_on(async {
        // Bind first: if the port is in use, the database must not be migrated.
        let address = settings.listen;
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| ServeError::Listen { address, source })?;
        let store = Store::open(&database::of_location(&settings.database)?).await?;
        let (app, first_start) = App::new(store, settings).await?;
        app.set_agent_spawner(spawner);
        let stop = stop_signal().map_err(ServeError::Runtime)?;
        announce(&app, &first_start, &listener, print);
        Box::pin(serve(app, listener, stop)).await
    });
    // Name resolution blocks a thread and cannot be cancelled; a slow name server must not delay the exit.
    runtime.shutdown_timeout(SHUTDOWN_TIME_MAX);
    served
}

/// Serves requests until `stop` resolves; requests in flight are finished within the grace period.
pub async fn serve(
    app: App,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    if let Ok(address) = listener.local_addr() {
        app.services.repositories.access.listens_on(address);
    }
    app.start_background();
    app.start_maintenance();
    let stopping = app.orchestrator.clone();
    // Event streams are requests in flight; without this they would delay the shutdown.
    let stop = async move {
        stop.await;
        lifecycle::stop(&stopping);
        lifecycle::release_leases(&stopping).await;
    };
    let tls = app.tls.as_ref().map(|tls| Arc::clone(&tls.config));
    let served = connections::serve(service(&app), listener, tls, stop).await;
    app.stop_background();
    lifecycle::wait_for_agents(&app.orchestrator).await;
    app.store.close().await;
    let tracer = app.orchestrator.context.tracer.clone();
    // Flushing blocks; if the wait fails, only spans are lost.
    _ = tokio::task::spawn_blocking(move || tracer.shutdown()).await;
    served.map_err(ServeError::Listener)
}

fn announce(app: &App, first_start: &FirstStart, listener: &TcpListener, print: &mut dyn FnMut(&str)) {
    if let FirstStart::Generated { password } = first_start {
        print(&format!("First start. Log in as `{ADMIN}` with this password, which is shown only once:"));
        print(&format!("  {password}"));
    }
    let Ok(address) = listener.local_addr() else { return };
    let scheme = if let Some(tls) = &app.tls {
        if let Some(names) = tls.own_names() {
            let names = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            print(&format!("The server certificate is valid for {names}; add names with `--tls-name`"));
        }
        if let Some(authority) = &tls.authority {
            print(&format!("Agents trust it with `--ca-fingerprint {}`", authority.fingerprint()));
        }
        "https"
    } else {
        if !address.ip().is_loopback() {
            print(WARNING);
        }
        "http"
    };
    print(&format!("Stoker listens on {scheme}://{address} (the API: {scheme}://{address}/api/v1/docs)"));
}

/// Resolves on SIGTERM or SIGINT.
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
