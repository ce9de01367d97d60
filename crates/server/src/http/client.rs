//! The client at the other end of the connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use stoker_tls::Fingerprint;

/// Address of the peer. Forwarding headers are ignored: any client can forge them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let connected = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        // Requests without a connection come from tests in this process.
        Ok(Self(connected.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip())))
    }
}

/// Marks requests that came over TLS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TlsClient {
    /// Fingerprint of the client certificate, which the internal certificate authority issued.
    pub(crate) certificate: Option<Fingerprint>,
}

/// Returns the host the client connected to: the `Host` header, or `:authority` in HTTP/2.
pub(crate) fn host_of<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Option<&'r str> {
    let header = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    header.or_else(|| uri.authority().map(Authority::as_str))
}

/// Base URL under which the client reached the server, for links in responses.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for BaseUrl {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let scheme = if parts.extensions.get::<TlsClient>().is_some() { "https" } else { "http" };
        let host = host_of(&parts.headers, &parts.uri).unwrap_or("127.0.0.1:8000");
        Ok(Self(format!("{scheme}://{host}")))
    }
}
