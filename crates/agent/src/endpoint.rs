//! The address of a server, and a stream to it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::Uri;
use rustls::pki_types::ServerName;
use stoker_tls::{ClientIdentity, TlsError, Trust, client_config};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a server may take to accept.
const CONNECT_MAX: Duration = Duration::from_secs(15);

/// Where a server is, or several that do the same.
#[derive(Clone)]
pub struct Endpoint {
    /// One at least.
    places: Arc<[Place]>,
    /// Counts connections: each begins with the place after that of the last one.
    n_tried: Arc<AtomicUsize>,
    tls: Option<TlsConnector>,
}

struct Place {
    host: String,
    port: u16,
    /// In front of every path; no slash at its end.
    prefix: String,
    is_tls: bool,
}

/// A stream of bytes, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("`{url}` is no address of a server: {reason}; write `https://stoker.example:8000`")]
    Address { url: String, reason: &'static str },
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Endpoint {
    /// One address, or several with commas between. Certificates of the system are trusted, and those of the file.
    pub fn parse(urls: &str, ca: Option<&Path>) -> Result<Self, EndpointError> {
        Self::secured(urls, &Trust::System { file: ca.map(Path::to_owned) }, None)
    }

    /// The same where it is said whom to trust, and who it is that connects.
    pub fn secured(
        urls: &str,
        trust: &Trust,
        identity: Option<Arc<ClientIdentity>>,
    ) -> Result<Self, EndpointError> {
        let places: Vec<Place> =
            urls.split(',').map(|url| Place::parse(url.trim())).collect::<Result<_, _>>()?;
        let is_tls = places.iter().any(|place| place.is_tls);
        let tls = if is_tls { Some(Arc::new(client_config(trust, identity)?).into()) } else { None };
        Ok(Self { places: places.into(), n_tried: Arc::default(), tls })
    }

    /// Whether all places are reached through TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.places.iter().all(|place| place.is_tls)
    }

    /// As in the header `Host`.
    pub(crate) fn authority(&self) -> String {
        self.place().authority()
    }

    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.place().prefix)
    }

    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        self.place().url(scheme, path)
    }

    /// Whether some place is among those of a text that another endpoint was shown as.
    pub(crate) fn is_known_as(&self, shown: &str) -> bool {
        shown.split(',').any(|url| self.places.iter().any(|place| place.url("http", "") == url))
    }

    /// The one that was tried last.
    fn place(&self) -> &Place {
        let n_tried = self.n_tried.load(Ordering::Relaxed);
        &self.places[n_tried.saturating_sub(1) % self.places.len()]
    }

    /// To the next place that answers. Why none does is told in words: names that cannot be resolved, ports nobody listens
    /// on, certificates nobody signed.
    pub(crate) async fn connect(&self) -> Result<Box<dyn Stream>, String> {
        let mut reasons = Vec::new();
        for _ in 0..self.places.len() {
            self.n_tried.fetch_add(1, Ordering::Relaxed);
            let place = self.place();
            match tokio::time::timeout(CONNECT_MAX, place.connect(self.tls.as_ref())).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(reason)) => reasons.push((place, reason)),
                Err(_) => {
                    reasons.push((place, format!("no answer in {} seconds", CONNECT_MAX.as_secs())));
                }
            }
        }
        Err(match &reasons[..] {
            [(_, reason)] => reason.clone(),
            several => {
                let told = several.iter().map(|(place, reason)| format!("{}: {reason}", place.authority()));
                told.collect::<Vec<_>>().join("; ")
            }
        })
    }
}

impl Place {
    fn parse(url: &str) -> Result<Self, EndpointError> {
        let wrong = |reason: &'static str| EndpointError::Address { url: url.to_owned(), reason };
        let uri: Uri = url.parse().map_err(|_| wrong("it makes no sense"))?;
        let is_tls = match uri.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            Some(_) => return Err(wrong("it must begin with `https://` or `http://`")),
            None => return Err(wrong("it has no `https://` or `http://`")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("it has no host"))?;
        if uri.query().is_some() {
            return Err(wrong("it has a `?`"));
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

    async fn connect(&self, tls: Option<&TlsConnector>) -> Result<Box<dyn Stream>, String> {
        let stream =
            TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|error| error.to_string())?;
        // Messages are small, and somebody waits for each.
        _ = stream.set_nodelay(true);
        let Some(tls) = tls.filter(|_| self.is_tls) else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
        let stream = tls.connect(name, stream).await.map_err(|error| error.to_string())?;
        Ok(Box::new(stream))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<String> = self.places.iter().map(|place| place.url("http", "")).collect();
        f.write_str(&urls.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_their_mistakes_named() {
        let shown = |url: &str| {
            Endpoint::parse(url, None)
                .map(|endpoint| endpoint.url("ws", "/x"))
                .map_err(|error| error.to_string())
        };
        assert_eq!(shown("http://a:8000/"), Ok("ws://a:8000/x".into()));
        assert_eq!(shown("https://a/stoker/"), Ok("wss://a:443/stoker/x".into()));
        assert_eq!(shown("http://[::1]:80"), Ok("ws://[::1]:80/x".into()));
        for url in ["", "a", "a:8000", "ftp://a", "http://", "http://a?b", "http://a,", "http://a,b"] {
            let error = shown(url).unwrap_err();
            assert!(error.contains("write `https://"), "{error}");
        }
        assert!(matches!(
            Endpoint::parse("https://a", Some(Path::new("/no/such/file"))),
            Err(EndpointError::Tls(TlsError::File { .. }))
        ));
    }

    #[test]
    fn a_server_that_came_later_is_of_the_same_group() {
        let endpoint = Endpoint::parse("http://a:1, http://b:2/x/", None).unwrap();
        assert_eq!(endpoint.to_string(), "http://a:1,http://b:2/x");
        assert!(endpoint.is_known_as("http://b:2/x"));
        assert!(endpoint.is_known_as("http://c:3,http://a:1"));
        assert!(!endpoint.is_known_as("http://c:3"));
    }

    #[tokio::test]
    async fn servers_are_tried_in_turn() {
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
        assert!(endpoint.connect().await.err().unwrap().contains(';'), "each says why");
    }
}
