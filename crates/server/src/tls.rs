//! TLS of the listener: the server certificate, and certificates for agents.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use stoker_model::{AgentUid, ErrorChain, Micros};
use stoker_tls::{
    CertificateAuthority, IssuedCertificate, KeyPairFiles, Name, ServerIdentity, TlsError, Validity,
    server_config,
};
use tokio::signal::unix::{SignalKind, signal};

use stoker_services::Clock;
use stoker_services::background::TaskMonitor;

/// Lifetime of a self-issued server certificate. It is renewed while the server runs and reissued at each start.
const OWN_SECONDS: i64 = 90 * 24 * 3600;
/// Interval of checks for renewed or expiring certificates.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(10);

pub(crate) struct Tls {
    /// Issues agent certificates.
    pub(crate) authority: Option<CertificateAuthority>,
    agent_seconds: i64,
    identity: Arc<ServerIdentity>,
    source: Source,
    pub(crate) config: Arc<ServerConfig>,
}

/// Source of the server certificate.
enum Source {
    Files { files: KeyPairFiles, loaded: Mutex<FileTimes> },
    Own { names: Vec<Name> },
}

type FileTimes = (Option<SystemTime>, Option<SystemTime>);

impl Tls {
    /// Returns the PEM certificate that clients have to trust, if the server uses the internal certificate
    /// authority.
    pub(crate) fn own_authority(&self) -> Option<Arc<str>> {
        self.own_names()?;
        self.authority.as_ref().map(|authority| authority.pem().into())
    }

    /// Opens TLS; `None` without TLS settings.
    pub(crate) fn open(
        settings: Option<&stoker_settings::Tls>,
        listen: SocketAddr,
        now: Micros,
    ) -> Result<Option<Self>, TlsError> {
        let Some(settings) = settings else { return Ok(None) };
        let authority = settings.ca_dir.as_deref().map(CertificateAuthority::open).transpose()?;
        let (source, identity) = match (&settings.files, &authority) {
            (Some((certificate, key)), _) => {
                let files = KeyPairFiles { certificate: certificate.clone(), key: key.clone() };
                let loaded = Mutex::new(files.written_at());
                let identity = ServerIdentity::from_files(&files)?;
                (Source::Files { files, loaded }, identity)
            }
            (None, Some(authority)) => {
                let names = own_names(listen.ip(), &settings.names);
                let (issued, key) =
                    authority.issue_server(&names, Validity::from_now(seconds(now), OWN_SECONDS))?;
                (Source::Own { names }, ServerIdentity::from_issued(issued, &key)?)
            }
            (None, None) => return Ok(None),
        };
        let identity = Arc::new(identity);
        let config = Arc::new(server_config(Arc::clone(&identity), authority.as_ref())?);
        let agent_seconds = settings.agent_certificate_seconds;
        Ok(Some(Self { authority, agent_seconds, identity, source, config }))
    }

    /// Issues an agent certificate; `None` without a certificate authority.
    pub(crate) fn issue_agent(
        &self,
        request: &str,
        uid: &AgentUid,
        now: Micros,
    ) -> Option<Result<IssuedCertificate, TlsError>> {
        let validity = Validity::from_now(seconds(now), self.agent_seconds);
        Some(self.authority.as_ref()?.issue_agent(request, uid, validity))
    }

    /// Returns the subject names of a self-issued certificate; `None` if it comes from files.
    pub(crate) fn own_names(&self) -> Option<&[Name]> {
        match &self.source {
            Source::Own { names } => Some(names),
            Source::Files { .. } => None,
        }
    }

    /// Reloads changed certificate files, or reissues an expiring certificate. Existing connections are not affected.
    fn refresh(&self, is_forced: bool, now: Micros) -> Result<bool, TlsError> {
        match (&self.source, &self.authority) {
            (Source::Files { files, loaded }, _) => {
                let written = files.written_at();
                let mut loaded = loaded.lock();
                if !is_forced && *loaded == written {
                    return Ok(false);
                }
                // The time is recorded even on failure, so that the same error is logged once.
                *loaded = written;
                self.identity.reload(files)?;
            }
            (Source::Own { names }, Some(authority)) => {
                if !is_forced && seconds(now) < self.identity.validity().renew_at() {
                    return Ok(false);
                }
                let validity = Validity::from_now(seconds(now), OWN_SECONDS);
                let (issued, key) = authority.issue_server(names, validity)?;
                self.identity.replace(issued, &key)?;
            }
            (Source::Own { .. }, None) => return Ok(false),
        }
        Ok(true)
    }

    /// Watches the certificate until the server stops. SIGHUP triggers a check.
    pub(crate) async fn watch_certificates(&self, clock: Clock, monitor: TaskMonitor) {
        let Ok(mut hangup) = signal(SignalKind::hangup()) else {
            tracing::warn!(
                "cannot install the SIGHUP handler; falling back to polling for renewed certificates"
            );
            return self.look_forever(clock, &monitor).await;
        };
        loop {
            let is_forced = tokio::select! {
                heard = hangup.recv() => heard.is_some(),
                () = tokio::time::sleep(CHECK_INTERVAL) => false,
            };
            self.look(is_forced, clock, &monitor);
        }
    }

    async fn look_forever(&self, clock: Clock, monitor: &TaskMonitor) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            self.look(false, clock, monitor);
        }
    }

    fn look(&self, is_forced: bool, clock: Clock, monitor: &TaskMonitor) {
        monitor.start();
        let refreshed = self.refresh(is_forced, clock.now());
        monitor.finish(&refreshed);
        match refreshed {
            Ok(true) => tracing::info!("server certificate replaced"),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(error = %ErrorChain(&error), "cannot replace the server certificate; keeping the current one");
            }
        }
    }
}

fn seconds(at: Micros) -> i64 {
    at.0.div_euclid(Micros::SECOND)
}

/// Returns the names and addresses of this machine, configured names first.
fn own_names(listen: IpAddr, configured: &[String]) -> Vec<Name> {
    let mut names: Vec<Name> = configured.iter().filter_map(|name| name.parse().ok()).collect();
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    names.extend(host.and_then(|name| name.parse().ok()));
    if listen.is_unspecified() || listen.is_loopback() {
        names.push(Name::Host("localhost".to_owned()));
    }
    if listen.is_unspecified() {
        names.extend(addresses().into_iter().map(Name::Address));
    } else {
        names.push(Name::Address(listen));
    }
    let mut unique: Vec<Name> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

/// Returns the addresses of all interfaces, without link-local addresses.
fn addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    let address = |interface: nix::ifaddrs::InterfaceAddress| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        let v6 = || address.as_sockaddr_in6().map(nix::sys::socket::SockaddrIn6::ip);
        v4.or_else(|| v6().filter(|v6| !v6.is_unicast_link_local()).map(IpAddr::V6))
    };
    interfaces.filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_are_complete_and_unique() {
        let names =
            own_names("127.0.0.1".parse().unwrap(), &["stoker.example".to_owned(), "localhost".to_owned()]);
        let shown: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(shown[0], "stoker.example");
        assert_eq!(shown.iter().filter(|name| *name == "localhost").count(), 1);
        assert!(shown.contains(&"127.0.0.1".to_owned()));
        let everywhere = own_names("0.0.0.0".parse().unwrap(), &[]);
        assert!(everywhere.contains(&Name::Address(IpAddr::from([127, 0, 0, 1]))));
        assert!(!everywhere.contains(&Name::Address(IpAddr::from([0, 0, 0, 0]))));
        let one = own_names("10.1.2.3".parse().unwrap(), &[]);
        assert!(!one.contains(&Name::Host("localhost".to_owned())));
    }
}
