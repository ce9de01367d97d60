//! The authority, its certificates, and their verification in real in-memory handshakes.
#![expect(clippy::unwrap_used, reason = "tests: a panic is how they fail")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};
use stoker_testkit::TempFolder;
use stoker_tls::{
    AgentKey, Certificate, CertificateAuthority, ClientIdentity, Fingerprint, KeyPairFiles, Name,
    ServerIdentity, TlsError, Trust, Validity, client_config, server_config, write_private,
};

const YEAR: i64 = 365 * 24 * 3600;

/// Handshakes verify certificates against the real clock.
#[expect(clippy::disallowed_methods, reason = "tests look at the clock")]
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn authority(folder: &Path) -> CertificateAuthority {
    CertificateAuthority::create(folder, "Stoker test", Validity::from_now(now(), YEAR)).unwrap()
}

fn names(texts: &[&str]) -> Vec<Name> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn identity(authority: &CertificateAuthority, of: &[&str], validity: Validity) -> Arc<ServerIdentity> {
    let (issued, key) = authority.issue_server(&names(of), validity).unwrap();
    Arc::new(ServerIdentity::from_issued(issued, &key).unwrap())
}

/// Performs a handshake. Returns the fingerprint of the client certificate, or why the handshake failed.
fn handshake(
    client: ClientConfig,
    server: ServerConfig,
    name: &str,
) -> Result<Option<Fingerprint>, rustls::Error> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    while client.is_handshaking() || server.is_handshaking() {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            server.read_tls(&mut rest).unwrap();
            server.process_new_packets()?;
        }
        let mut bytes = Vec::new();
        server.write_tls(&mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            client.read_tls(&mut rest).unwrap();
            client.process_new_packets()?;
        }
    }
    Ok(server.peer_certificates().and_then(|chain| chain.first()).map(|leaf| Fingerprint::of(leaf)))
}

#[test]
fn authority_is_created_once_with_private_key() {
    let folder = TempFolder::new();
    let ca_folder = folder.file("deep/ca");
    let created = authority(&ca_folder);
    let mode = |file: &str| std::fs::metadata(ca_folder.join(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(CertificateAuthority::KEY_FILE), 0o600);
    let again = CertificateAuthority::create(&ca_folder, "Another", Validity::from_now(now(), YEAR));
    assert!(matches!(again, Err(TlsError::Exists { .. })));
    let opened = CertificateAuthority::open(&ca_folder).unwrap();
    assert_eq!(opened.fingerprint(), created.fingerprint());
    assert_eq!(opened.pem(), created.pem());
    let certificate = Certificate::read(opened.certificate()).unwrap();
    assert!(certificate.is_authority);
    assert_eq!(certificate.subject, "Stoker test");

    // An incomplete authority cannot be opened and is not overwritten.
    std::fs::remove_file(ca_folder.join(CertificateAuthority::CERTIFICATE_FILE)).unwrap();
    assert!(matches!(CertificateAuthority::open(&ca_folder), Err(TlsError::NoAuthority { .. })));
    let again = CertificateAuthority::create(&ca_folder, "Another", Validity::from_now(now(), YEAR));
    assert!(matches!(again, Err(TlsError::Exists { .. })));
}

#[test]
fn invalid_authorities_are_reported() {
    let folder = TempFolder::new();
    let why = |ca_folder: &Path| {
        CertificateAuthority::open(ca_folder).err().map(|error| error.to_string()).unwrap()
    };
    assert!(why(folder.path()).contains("stoker ca init"));
    let (first, second) = (folder.file("first"), folder.file("second"));
    authority(&first);
    authority(&second);
    std::fs::copy(second.join(CertificateAuthority::KEY_FILE), first.join(CertificateAuthority::KEY_FILE))
        .unwrap();
    assert!(why(&first).contains("does not match the certificate next to it"), "{}", why(&first));
    let key = second.join(CertificateAuthority::KEY_FILE);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(why(&second).contains("chmod 600"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (issued, leaf_key) = CertificateAuthority::open(&second)
        .unwrap()
        .issue_server(&names(&["a"]), Validity::from_now(now(), YEAR))
        .unwrap();
    std::fs::write(second.join(CertificateAuthority::CERTIFICATE_FILE), &issued.chain_pem).unwrap();
    std::fs::write(&key, leaf_key).unwrap();
    assert!(why(&second).contains("is not a CA certificate"), "{}", why(&second));
    std::fs::write(&key, "what?").unwrap();
    assert!(why(&second).contains("no private key"));
}

#[test]
fn server_certificates_are_verified() {
    let folder = TempFolder::new();
    let ours = authority(&folder.file("ours"));
    let theirs = authority(&folder.file("theirs"));
    let good = Validity::from_now(now(), YEAR);
    let ca = Some(folder.file("ours").join(CertificateAuthority::CERTIFICATE_FILE));
    let by_file = Trust::System { file: ca };
    for trust in [by_file, Trust::Pinned(ours.fingerprint())] {
        let try_it = |authority: &CertificateAuthority, validity: Validity, name: &str| {
            let server =
                server_config(identity(authority, &["stoker.example", "127.0.0.1"], validity), None).unwrap();
            handshake(client_config(&trust, None).unwrap(), server, name)
        };
        assert_eq!(try_it(&ours, good, "stoker.example"), Ok(None), "{trust:?}");
        assert_eq!(try_it(&ours, good, "127.0.0.1"), Ok(None), "{trust:?}");
        assert!(try_it(&ours, good, "other.example").is_err(), "another name");
        assert!(try_it(&theirs, good, "stoker.example").is_err(), "another authority");
        let expired = Validity { not_before: now() - YEAR, not_after: now() - 1 };
        assert!(try_it(&ours, expired, "stoker.example").is_err(), "expired");
    }
}

#[test]
fn client_certificates_are_verified() {
    let folder = TempFolder::new();
    let ours = authority(&folder.file("ours"));
    let theirs = authority(&folder.file("theirs"));
    let trust = Trust::Pinned(ours.fingerprint());
    let listen =
        || server_config(identity(&ours, &["a"], Validity::from_now(now(), YEAR)), Some(&ours)).unwrap();
    let connect = |authority: &CertificateAuthority, validity: Validity| {
        let key = AgentKey::new().unwrap();
        let issued = authority.issue_agent(&key.request().unwrap(), &"7".into(), validity).unwrap();
        assert_eq!(issued.certificate.subject, "7");
        let identity = Arc::new(ClientIdentity::default());
        assert_eq!(identity.set(&issued.chain_pem, &key.pem()).unwrap(), issued.certificate.validity);
        let result = handshake(client_config(&trust, Some(identity)).unwrap(), listen(), "a");
        result.map(|fingerprint| fingerprint == Some(issued.certificate.fingerprint))
    };
    assert_eq!(connect(&ours, Validity::from_now(now(), 60)), Ok(true));
    assert!(connect(&theirs, Validity::from_now(now(), 60)).is_err());
    assert!(connect(&ours, Validity { not_before: now() - 90, not_after: now() - 30 }).is_err());
    // A browser has no client certificate and may connect.
    let anonymous = client_config(&trust, Some(Arc::new(ClientIdentity::default()))).unwrap();
    assert_eq!(handshake(anonymous, listen(), "a"), Ok(None));
}

#[test]
fn agent_certificate_is_rejected_for_servers() {
    let folder = TempFolder::new();
    let ours = authority(folder.path());
    let key = AgentKey::new().unwrap();
    let good = Validity::from_now(now(), YEAR);
    let issued = ours.issue_agent(&key.request().unwrap(), &"stoker.example".into(), good).unwrap();
    let identity = Arc::new(ServerIdentity::from_issued(issued, &key.pem()).unwrap());
    let trust = Trust::Pinned(ours.fingerprint());
    let server = server_config(identity, None).unwrap();
    assert!(handshake(client_config(&trust, None).unwrap(), server, "stoker.example").is_err());
}

#[test]
fn signing_requests_are_validated() {
    let folder = TempFolder::new();
    let ours = authority(folder.path());
    let good = AgentKey::new().unwrap().request().unwrap();
    let broken = {
        // The file has another key with the same signature.
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        let middle = lines.len() / 2;
        lines[middle] = lines[middle].chars().rev().collect();
        lines.join("\n")
    };
    let rsa_less = request_with_another_key_type();
    for wrong in ["", "what?", ours.pem(), &broken, &rsa_less, &good.repeat(100)] {
        let refused = ours.issue_agent(wrong, &"7".into(), Validity::from_now(now(), 60)).err();
        assert!(matches!(refused, Some(TlsError::Request(_))), "{refused:?} {wrong}");
    }
    let first = ours.issue_agent(&good, &"7".into(), Validity::from_now(now(), 60)).unwrap();
    let second = ours.issue_agent(&good, &"7".into(), Validity::from_now(now(), 60)).unwrap();
    assert_ne!(first.certificate.serial, second.certificate.serial);
}

fn request_with_another_key_type() -> String {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    rcgen::CertificateParams::default().serialize_request(&key).unwrap().pem().unwrap()
}

#[test]
fn reload_keeps_current_certificate_on_mismatch() {
    let folder = TempFolder::new();
    let ours = authority(&folder.file("ca"));
    let files = KeyPairFiles { certificate: folder.file("s.pem"), key: folder.file("s-key.pem") };
    let write = |seconds: i64| {
        let (issued, key) = ours.issue_server(&names(&["a"]), Validity::from_now(now(), seconds)).unwrap();
        std::fs::write(&files.certificate, &issued.chain_pem).unwrap();
        write_private(&files.key, &key).unwrap();
        issued.certificate.validity
    };
    let first = write(YEAR);
    let identity = ServerIdentity::from_files(&files).unwrap();
    assert_eq!(identity.validity(), first);
    let second = write(2 * YEAR);
    identity.reload(&files).unwrap();
    assert_eq!(identity.validity(), second);
    // A certificate renewed without its key, as after an incomplete copy.
    let (issued, _) = ours.issue_server(&names(&["a"]), Validity::from_now(now(), 60)).unwrap();
    std::fs::write(&files.certificate, &issued.chain_pem).unwrap();
    let error = identity.reload(&files).unwrap_err().to_string();
    assert!(error.contains("does not match"), "{error}");
    assert_eq!(identity.validity(), second);
    std::fs::write(&files.certificate, "").unwrap();
    assert!(identity.reload(&files).unwrap_err().to_string().contains("no certificate"));
}

#[test]
fn renewal_time_leaves_room_for_retries() {
    let validity = Validity { not_before: 0, not_after: 30 };
    assert_eq!(validity.renew_at(), 20);
    for seconds in [10, 60, 3600, YEAR] {
        let starting = Validity::from_now(1_000_000, seconds);
        assert!(starting.renew_at() > 1_000_000, "{seconds}: it is new");
        assert!(starting.renew_at() < starting.not_after, "{seconds}: in time");
    }
    assert!(
        validity.contains(0) && validity.contains(30) && !validity.contains(31) && !validity.contains(-1)
    );
}
