//! The address of a server, and a stream to it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a server may take to accept.
const CONNECT_MAX: Duration = Duration::from_secs(15);

/// Where a server is.
#[derive(Clone)]
pub struct Endpoint {
    host: String,
    port: u16,
    /// In front of every path; no slash at its end.
    prefix: String,
    tls: Option<TlsConnector>,
}

/// A stream of bytes, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("`{url}` is no address of a server: {reason}; write `https://stoker.example:8000`")]
    Address { url: String, reason: &'static str },
    #[error("cannot read certificates from `{path}`: {reason}")]
    Certificates { path: String, reason: String },
    #[error("cannot use TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl Endpoint {
    /// Certificates of the system are trusted, and those of the file.
    pub fn parse(url: &str, ca: Option<&Path>) -> Result<Self, EndpointError> {
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
            tls: if is_tls { Some(tls(ca)?) } else { None },
        })
    }

    /// As in the header `Host`.
    pub(crate) fn authority(&self) -> String {
        let is_v6 = self.host.contains(':');
        if is_v6 { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }

    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    pub(crate) fn url(&self, scheme: &str, path: &str) -> String {
        let secure = if self.tls.is_some() { "s" } else { "" };
        format!("{scheme}{secure}://{}{}", self.authority(), self.path(path))
    }

    /// Why not is told in words: names that cannot be resolved, ports nobody listens on, certificates nobody signed.
    pub(crate) async fn connect(&self) -> Result<Box<dyn Stream>, String> {
        let connecting = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port))
                .await
                .map_err(|error| error.to_string())?;
            // Messages are small, and somebody waits for each.
            _ = stream.set_nodelay(true);
            let Some(tls) = &self.tls else { return Ok(Box::new(stream) as Box<dyn Stream>) };
            let name = ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
            let stream = tls.connect(name, stream).await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        };
        match tokio::time::timeout(CONNECT_MAX, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(format!("no answer in {} seconds", CONNECT_MAX.as_secs())),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url("http", ""))
    }
}

fn tls(ca: Option<&Path>) -> Result<TlsConnector, EndpointError> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in rustls_native_certs::load_native_certs().certs {
        // Some systems ship certificates that no library can read.
        _ = roots.add(certificate);
    }
    if let Some(path) = ca {
        let wrong = |reason: String| EndpointError::Certificates { path: path.display().to_string(), reason };
        let mut n_read = 0;
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))? {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            n_read += 1;
        }
        if n_read == 0 {
            return Err(wrong("there is none in it".to_owned()));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
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
        for url in ["", "a", "a:8000", "ftp://a", "http://", "http://a?b"] {
            let error = shown(url).unwrap_err();
            assert!(error.contains("write `https://"), "{error}");
        }
        assert!(matches!(
            Endpoint::parse("https://a", Some(Path::new("/no/such/file"))),
            Err(EndpointError::Certificates { .. })
        ));
    }
}
