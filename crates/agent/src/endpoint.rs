//! Server addresses, and TCP or TLS streams to them.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::Uri;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use stoker_tls::{ClientIdentity, TlsError, Trust, client_config};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Timeout for connecting to one address, TLS handshake included.
const CONNECT_MAX: Duration = Duration::from_secs(15);

/// One or more equivalent server addresses; connections rotate over them.
#[derive(Clone)]
pub struct Endpoint {
    /// Server addresses; never empty.
    addresses: Arc<[Address]>,
    /// Number of connection attempts. Each attempt uses the address after the previous one.
    n_tried: Arc<AtomicUsize>,
    tls: Option<TlsConnector>,
}

struct Address {
    host: String,
    port: u16,
    /// Path prefix without a trailing slash.
    prefix: String,
    is_tls: bool,
}

/// A stream of bytes, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("`{url}` is not a server address: {reason}; expected `https://stoker.example:8000`")]
    Address { url: String, reason: &'static str },
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Error while connecting to one address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Name(#[from] InvalidDnsNameError),
    #[error("no response within {} seconds", CONNECT_MAX.as_secs())]
    Timeout,
}

/// Error while connecting to a server: no address accepts a connection.
#[derive(Debug)]
pub struct ConnectError {
    /// Each address as `host:port`, with the reason why the connection failed.
    attempts: Vec<(String, AddressError)>,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(_, reason)] = &self.attempts[..] {
            return write!(f, "{reason}");
        }
        for (position, (address, reason)) in self.attempts.iter().enumerate() {
            write!(f, "{}{address}: {reason}", if position > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.attempts[..] {
            [(_, reason)] => reason.source(),
            _ => None,
        }
    }
}

impl Endpoint {
    /// Parses one URL or several separated by commas. Trusts the system's certificates and those in `ca`.
    pub fn parse(urls: &str, ca: Option<&Path>) -> Result<Self, EndpointError> {
        Self::secured(urls, &Trust::System { file: ca.map(Path::to_owned) }, None)
    }

    /// Like [`Endpoint::parse`], with explicit trust and an optional client identity.
    pub fn secured(
        urls: &str,
        trust: &Trust,
        identity: Option<Arc<ClientIdentity>>,
    ) -> Result<Self, EndpointError> {
        let addresses: Vec<Address> =
            urls.split(',').map(|url| Address::parse(url.trim())).collect::<Result<_, _>>()?;
        let is_tls = addresses.iter().any(|address| address.is_tls);
        let tls = if is_tls { Some(Arc::new(client_config(trust, identity)?).into()) } else { None };
        Ok(Self { addresses: addresses.into(), n_tried: Arc::default(), tls })
    }

    /// Reports whether all addresses use TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.addresses.iter().all(|address| address.is_tls)
    }

    /// Returns the value for the `Host` header.
    pub(crate) fn authority(&self) -> String {
        self.address().authority()
    }

    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.address().prefix)
    }

    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        self.address().url(scheme, path)
    }

    /// Reports whether any address is in `urls`, the display form of another endpoint. Allows addresses to be
    /// added to or removed from the list without joining again.
    pub(crate) fn overlaps(&self, urls: &str) -> bool {
        urls.split(',').any(|url| self.addresses.iter().any(|address| address.url("http", "") == url))
    }

    /// Returns the address of the last connection attempt.
    fn address(&self) -> &Address {
        let n_tried = self.n_tried.load(Ordering::Relaxed);
        &self.addresses[n_tried.saturating_sub(1) % self.addresses.len()]
    }

    /// Connects to the next address that accepts. The error lists the reason for each address.
    pub(crate) async fn connect(&self) -> Result<Box<dyn Stream>, ConnectError> {
        let mut attempts = Vec::new();
        for _ in 0..self.addresses.len() {
            self.n_tried.fetch_add(1, Ordering::Relaxed);
            let address = self.address();
            let reason = match tokio::time::timeout(CONNECT_MAX, address.connect(self.tls.as_ref())).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(reason)) => reason,
                Err(_) => AddressError::Timeout,
            };
            attempts.push((address.authority(), reason));
        }
        Err(ConnectError { attempts })
    }
}

impl Address {
    fn parse(url: &str) -> Result<Self, EndpointError> {
        let invalid = |reason: &'static str| EndpointError::Address { url: url.to_owned(), reason };
        let uri: Uri = url.parse().map_err(|_| invalid("it is not a valid URL"))?;
        let is_tls = match uri.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            Some(_) => return Err(invalid("its scheme is neither `https://` nor `http://`")),
            None => return Err(invalid("it has no scheme")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| invalid("it has no host"))?;
        if uri.query().is_some() {
            return Err(invalid("it has a query string"));
        }
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            prefix: uri.path().trim_end_matches('/').to_owned(),
            is_tls,
        })
    }

    fn authority(&self) -> String {
        let is_v6 = self.host.contains(':');
        if is_v6 { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }

    fn url(&self, scheme: &str, path: &str) -> String {
        let secure = if self.is_tls { "s" } else { "" };
        format!("{scheme}{secure}://{}{}{path}", self.authority(), self.prefix)
    }

    async fn connect(&self, tls: Option<&TlsConnector>) -> Result<Box<dyn Stream>, AddressError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // Messages are small and latency-sensitive.
        _ = stream.set_nodelay(true);
        let Some(tls) = tls.filter(|_| self.is_tls) else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(self.host.clone())?;
        let stream = tls.connect(name, stream).await?;
        Ok(Box::new(stream))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<String> = self.addresses.iter().map(|address| address.url("http", "")).collect();
        f.write_str(&urls.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_errors_explained() {
        let urls = |url: &str| {
            Endpoint::parse(url, None)
                .map(|endpoint| endpoint.url("ws", "/x"))
                .map_err(|error| error.to_string())
        };
        assert_eq!(urls("http://a:8000/"), Ok("ws://a:8000/x".into()));
        assert_eq!(urls("https://a/stoker/"), Ok("wss://a:443/stoker/x".into()));
        assert_eq!(urls("http://[::1]:80"), Ok("ws://[::1]:80/x".into()));
        for url in ["", "a", "a:8000", "ftp://a", "http://", "http://a?b", "http://a,", "http://a,b"] {
            let error = urls(url).unwrap_err();
            assert!(error.contains("expected `https://"), "{error}");
        }
        assert!(matches!(
            Endpoint::parse("https://a", Some(Path::new("/no/such/file"))),
            Err(EndpointError::Tls(TlsError::File { .. }))
        ));
    }

    #[test]
    fn overlapping_address_lists_are_the_same_server_group() {
        let endpoint = Endpoint::parse("http://a:1, http://b:2/x/", None).unwrap();
        assert_eq!(endpoint.to_string(), "http://a:1,http://b:2/x");
        assert!(endpoint.overlaps("http://b:2/x"));
        assert!(endpoint.overlaps("http://c:3,http://a:1"));
        assert!(!endpoint.overlaps("http://c:3"));
    }

    #[tokio::test]
    async fn servers_are_tried_round_robin() {
        let one = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let two = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let urls: Vec<String> = [&one, &closed, &two]
            .map(|listener| format!("http://{}", listener.local_addr().unwrap()))
            .to_vec();
        drop(closed);
        let endpoint = Endpoint::parse(&urls.join(","), None).unwrap();
        let mut reached = Vec::new();
        for _ in 0..3 {
            endpoint.connect().await.unwrap();
            reached.push(format!("http://{}", endpoint.authority()));
        }
        assert_eq!(reached, [&*urls[0], &*urls[2], &*urls[0]]);
        drop((one, two));
        let error = endpoint.connect().await.err().unwrap();
        assert_eq!(error.to_string().matches("; ").count(), 2, "one reason per address: {error}");
        let alone = Endpoint::parse(&urls[0], None).unwrap().connect().await.err().unwrap();
        assert!(!alone.to_string().contains("127.0.0.1"), "{alone}");
    }
}
