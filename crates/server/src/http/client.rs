//! Who speaks at the other end of the connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

/// The address of the peer. Forwarding headers are not believed: anyone can write them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let connected = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        // Without a connection the caller is in this process (tests).
        Ok(Self(connected.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip())))
    }
}

/// The address under which the client reached us, for links in answers.
#[derive(Debug, Clone)]
pub(crate) struct Reached(pub(crate) String);

impl Reached {
    fn read(headers: &HeaderMap) -> Self {
        let host =
            headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("127.0.0.1:8000");
        Self(format!("http://{host}"))
    }
}

impl<S: Sync> FromRequestParts<S> for Reached {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::read(&parts.headers))
    }
}
