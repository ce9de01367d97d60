//! Connections: bounded in number, with timeouts.

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
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustls::ServerConfig;
use stoker_model::ErrorChain;
use stoker_tls::Fingerprint;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

use crate::http::client::TlsClient;
use crate::router::AppService;

/// Maximum number of connections; further connections wait in the listen backlog. Every agent holds a
/// connection as long as it runs.
const CONNECTIONS_MAX: usize = 32_768;
/// Maximum number of file descriptors: one per connection, plus some others.
const FILES_MAX: u64 = 2 * CONNECTIONS_MAX as u64;
/// Timeout from the first byte of a request to the end of its headers, and between two requests.
const HEADERS_TIME_MAX: Duration = Duration::from_mins(1);
/// Grace period for requests in flight at shutdown.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(10);
/// Delay before retrying `accept` when the system has no free sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of concurrent TLS handshakes. They are CPU-bound; more would only slow down each of them.
const HANDSHAKES_MAX: usize = 1024;
/// Timeout from the connection to the end of the handshake, including the wait for a slot.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(15);
/// First byte of every TLS handshake record.
const HANDSHAKE_BYTE: u8 = 0x16;
/// Response to plain HTTP on a TLS port.
const PLAIN_HTTP_RESPONSE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\
    content-length: 61\r\n\r\n{\"message\": \"this port speaks TLS; write `https://` instead\"}";

/// State shared by all connections of a listener.
#[derive(Clone)]
struct Listening {
    http: Builder<TokioExecutor>,
    service: AppService,
    /// TLS acceptor and handshake slots; `None` for plain HTTP.
    tls: Option<(TlsAcceptor, Arc<Semaphore>)>,
}

pub(crate) async fn serve(
    service: AppService,
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_TIME_MAX);
    http.http2().timer(TokioTimer::new()).keep_alive_interval(HEADERS_TIME_MAX);
    let tls = tls.map(|config| (TlsAcceptor::from(config), Arc::new(Semaphore::new(HANDSHAKES_MAX))));
    let listening = Listening { http, service, tls };
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::pin!(stop);
    loop {
        let permit = Arc::clone(&room).acquire_owned();
        let (accepted, permit) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, permit) => accepted,
        };
        match accepted {
            Ok((stream, peer)) => listening.clone().converse(graceful.watcher(), stream, peer, permit),
            Err(error) => {
                // The client has disconnected, or no file descriptors are left: neither stops the server.
                tracing::warn!(error = %ErrorChain(&error), "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN_TIME_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("shutdown grace period expired; aborting requests in flight");
    }
    Ok(())
}

/// Raises the file descriptor limit to what the system allows; the soft limit is often only 1,024.
pub(crate) fn raise_file_limit() {
    let Ok((now, most)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let raised = FILES_MAX.min(most);
    if now < raised
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, raised, most)
    {
        tracing::warn!(error = %ErrorChain(&error), limit = now, "cannot raise the open file limit");
    }
}

type ConnectionPermit = Option<OwnedSemaphorePermit>;

async fn accept(
    listener: &TcpListener,
    permit: impl Future<Output = Result<OwnedSemaphorePermit, tokio::sync::AcquireError>>,
) -> (io::Result<(TcpStream, SocketAddr)>, ConnectionPermit) {
    let permit = permit.await.ok();
    (listener.accept().await, permit)
}

impl Listening {
    /// Serves one connection in a separate task.
    fn converse(self, watcher: Watcher, stream: TcpStream, peer: SocketAddr, permit: ConnectionPermit) {
        // Send small responses immediately.
        _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let _permit = permit;
            let Some((acceptor, room)) = self.tls.clone() else {
                return self.answer(watcher, stream, peer, None).await;
            };
            match tokio::time::timeout(HANDSHAKE_TIME_MAX, handshake(&acceptor, &room, stream)).await {
                Ok(Ok(stream)) => {
                    let chain = stream.get_ref().1.peer_certificates();
                    let certificate = chain.and_then(|chain| chain.first()).map(|leaf| Fingerprint::of(leaf));
                    self.answer(watcher, stream, peer, Some(TlsClient { certificate })).await;
                }
                Ok(Err(error)) => {
                    tracing::debug!(error = %ErrorChain(&error), peer = %peer, "TLS handshake failed");
                }
                Err(_) => tracing::debug!(peer = %peer, "TLS handshake timed out"),
            }
        });
    }

    async fn answer(
        self,
        watcher: Watcher,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peer: SocketAddr,
        secured: Option<TlsClient>,
    ) {
        let service = self.service.map_request(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            if let Some(secured) = secured {
                request.extensions_mut().insert(secured);
            }
            request
        });
        let connection = self
            .http
            .serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(service))
            .into_owned();
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(error = %ErrorChain(&*error), peer = %peer, "connection failed");
        }
    }
}

async fn handshake(
    acceptor: &TlsAcceptor,
    room: &Semaphore,
    mut stream: TcpStream,
) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first[0] != HANDSHAKE_BYTE {
        reject_plain_http(&mut stream).await;
        return Err(io::Error::other("plain HTTP on a TLS port"));
    }
    // Acquired only when data has arrived: an idle connection takes no handshake slot.
    let _turn = room.acquire().await.map_err(io::Error::other)?;
    acceptor.accept(stream).await
}

/// Sends the plain HTTP response and drains the request: closing with unread data would reset the connection and discard
/// the response. The handshake timeout bounds this.
async fn reject_plain_http(stream: &mut TcpStream) {
    let mut unread = [0; 4096];
    if stream.write_all(PLAIN_HTTP_RESPONSE.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        while let Ok(1..) = stream.read(&mut unread).await {}
    }
}
