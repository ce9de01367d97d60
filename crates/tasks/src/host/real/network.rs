//! Probes and downloads.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::super::{HostError, Probe, ProbeResult};
use super::blocking;

/// Time limit of a probe, and of connecting for a download.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn probe(probe: Probe) -> Result<ProbeResult, HostError> {
    match probe {
        Probe::Port { host, port } => {
            let connect = TcpStream::connect((host.as_str(), port));
            let (is_met, state) = match tokio::time::timeout(CONNECT_TIMEOUT, connect).await {
                Ok(Ok(_)) => (true, "is open".to_owned()),
                Ok(Err(error)) => (false, format!("is not open: {error}")),
                Err(_) => (false, format!("does not answer within {} seconds", CONNECT_TIMEOUT.as_secs())),
            };
            Ok(ProbeResult { is_met, finding: format!("{host}:{port} {state}") })
        }
        Probe::Url { url, status } => {
            blocking(move || {
                let config = Agent::config_builder()
                    .tls_config(tls())
                    .timeout_global(Some(CONNECT_TIMEOUT))
                    .http_status_as_error(false)
                    .max_redirects(0)
                    .max_redirects_will_error(false);
                let agent: Agent = config.build().into();
                let response = agent.get(&url).call().map(|response| response.status().as_u16());
                let is_met = response.as_ref().is_ok_and(|current| *current == status);
                let finding = match response {
                    Ok(current) => format!("`{url}` responds with {current}"),
                    Err(error) => format!("`{url}` does not respond: {error}"),
                };
                Ok(ProbeResult { is_met, finding })
            })
            .await
        }
    }
}

/// Opens a resource for reading. Follows redirects.
pub(super) fn open(url: &str) -> io::Result<Box<dyn Read>> {
    let config = Agent::config_builder().tls_config(tls()).timeout_connect(Some(CONNECT_TIMEOUT));
    let agent: Agent = config.build().into();
    let response = agent.get(url).call().map_err(ureq::Error::into_io)?;
    Ok(Box::new(response.into_body().into_reader()))
}

/// Trusts the certificates of the system.
fn tls() -> TlsConfig {
    let trusted = rustls_native_certs::load_native_certs().certs;
    let trusted: Vec<Certificate<'static>> =
        trusted.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build()
}
