//! Connections: bounded in number and in the time they may take to say something.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

use crate::router::AppService;

/// More wait in the system's queue until one ends. Every agent has one for as long as it lives.
const CONNECTIONS_MAX: usize = 32_768;
/// Each connection is a file, and there are some others.
const FILES_MAX: u64 = 2 * CONNECTIONS_MAX as u64;
/// From the first byte of a request to the end of its headers, and between two requests.
const HEADERS_TIME_MAX: Duration = Duration::from_mins(1);
/// For requests under way when the server is asked to end.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(10);
/// Before trying again when the system gives no more sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn serve(
    service: AppService,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_TIME_MAX);
    http.http2().timer(TokioTimer::new()).keep_alive_interval(HEADERS_TIME_MAX);
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::pin!(stop);
    loop {
        let place = Arc::clone(&room).acquire_owned();
        let (accepted, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, place) => accepted,
        };
        match accepted {
            Ok((stream, peer)) => converse(&http, &graceful, service.clone(), stream, peer, place),
            Err(error) => {
                // A client that was gone before it was greeted, or no descriptors left: neither ends a server.
                tracing::warn!(error = %error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN_TIME_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
    Ok(())
}

/// Takes as many files as the system allows: what it offers at first is often only a thousand.
pub(crate) fn raise_file_limit() {
    let Ok((now, most)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = FILES_MAX.min(most);
    if now < wanted
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, wanted, most)
    {
        tracing::warn!(error = %error, limit = now, "the limit of open files stays as it is");
    }
}

type Place = Option<OwnedSemaphorePermit>;

async fn accept(
    listener: &TcpListener,
    place: impl Future<Output = Result<OwnedSemaphorePermit, tokio::sync::AcquireError>>,
) -> (io::Result<(TcpStream, SocketAddr)>, Place) {
    let place = place.await.ok();
    (listener.accept().await, place)
}

/// Answers the requests of one connection, in a task of its own.
fn converse(
    http: &Builder<TokioExecutor>,
    graceful: &GracefulShutdown,
    service: AppService,
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
) {
    // Small answers should not wait for company.
    _ = stream.set_nodelay(true);
    let service = service.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request
    });
    let connection = http
        .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service))
        .into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = connection.await {
            tracing::debug!(error = %error, peer = %peer, "a connection broke");
        }
    });
}
