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
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustls::ServerConfig;
use stoker_tls::Fingerprint;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower::ServiceExt as _;

use crate::http::client::Secured;
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
/// A handshake costs cryptography; more at a time would only make each slower.
const HANDSHAKES_MAX: usize = 1024;
/// From the connection to the end of the handshake, waiting for a turn included.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(15);
/// The first byte of every handshake.
const HANDSHAKE_BYTE: u8 = 0x16;
/// For whoever writes `http://` where `https://` is meant.
const PLAIN_ANSWER: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\
    content-length: 61\r\n\r\n{\"message\": \"this port speaks TLS; write `https://` instead\"}";

/// What all connections of a listener share.
#[derive(Clone)]
struct Listening {
    http: Builder<TokioExecutor>,
    service: AppService,
    /// With the places for handshakes; not there: connections are not encrypted.
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
        let place = Arc::clone(&room).acquire_owned();
        let (accepted, place) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, place) => accepted,
        };
        match accepted {
            Ok((stream, peer)) => listening.clone().converse(graceful.watcher(), stream, peer, place),
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

impl Listening {
    /// Answers the requests of one connection, in a task of its own.
    fn converse(self, watcher: Watcher, stream: TcpStream, peer: SocketAddr, place: Place) {
        // Small answers should not wait for company.
        _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let _place = place;
            let Some((acceptor, room)) = self.tls.clone() else {
                return self.answer(watcher, stream, peer, None).await;
            };
            match tokio::time::timeout(HANDSHAKE_TIME_MAX, handshake(&acceptor, &room, stream)).await {
                Ok(Ok(stream)) => {
                    let chain = stream.get_ref().1.peer_certificates();
                    let certificate = chain.and_then(|chain| chain.first()).map(|leaf| Fingerprint::of(leaf));
                    self.answer(watcher, stream, peer, Some(Secured { certificate })).await;
                }
                Ok(Err(error)) => tracing::debug!(error = %error, peer = %peer, "a handshake failed"),
                Err(_) => tracing::debug!(peer = %peer, "a handshake took too long"),
            }
        });
    }

    async fn answer(
        self,
        watcher: Watcher,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        peer: SocketAddr,
        secured: Option<Secured>,
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
            tracing::debug!(error = %error, peer = %peer, "a connection broke");
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
        tell_plain(&mut stream).await;
        return Err(io::Error::other("it does not speak TLS"));
    }
    // Taken when there is something to do: whoever connects and says nothing takes nobody's turn.
    let _turn = room.acquire().await.map_err(io::Error::other)?;
    acceptor.accept(stream).await
}

/// Whoever closes a connection with something unread in it takes back what it said; the time limit bounds this.
async fn tell_plain(stream: &mut TcpStream) {
    let mut unread = [0; 4096];
    if stream.write_all(PLAIN_ANSWER.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        while let Ok(1..) = stream.read(&mut unread).await {}
    }
}
