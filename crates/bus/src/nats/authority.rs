//! Decentralized authentication of NATS: an operator signs an account, the account signs its users.
//!
//! Each relation is a signed JWT claim. NATS verifies signatures and needs no user list; the holder of these
//! keys issues a user when an agent joins and revokes it later.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::{KeyPair, KeyPairType};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::BoxedError;

/// Unix timestamp in seconds.
pub type Seconds = i64;

/// Keys of the operator, of Stoker's account, and of the system account that manages accounts in NATS.
pub struct NatsAuthority {
    operator: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

/// A user JWT with its key.
pub struct NatsUser {
    pub jwt: String,
    pub seed: String,
}

/// Allowed subject patterns of a user. Everything else is denied.
pub struct Permissions {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
}

/// Revoked users by public key: JWTs issued at or before the timestamp are invalid.
pub type Revocations = BTreeMap<String, Seconds>;

#[derive(Debug, thiserror::Error)]
#[error("invalid NATS keys: {0}")]
pub struct AuthorityError(#[source] BoxedError);

impl NatsAuthority {
    /// Creates an authority from random seeds, one per key.
    pub fn new(operator: [u8; 32], account: [u8; 32], system: [u8; 32]) -> Result<Self, AuthorityError> {
        let key = |kind, bytes| KeyPair::new_from_raw(kind, bytes).map_err(invalid);
        Ok(Self {
            operator: key(KeyPairType::Operator, operator)?,
            account: key(KeyPairType::Account, account)?,
            system: key(KeyPairType::Account, system)?,
        })
    }

    /// Parses the output of [`NatsAuthority::to_text`].
    pub fn parse(text: &str) -> Result<Self, AuthorityError> {
        let json: Value = serde_json::from_str(text).map_err(invalid)?;
        let key = |name: &str, prefix: &str| {
            let seed = json.get(name).and_then(Value::as_str);
            let seed = seed.ok_or_else(|| invalid(format!("`{name}` is missing")))?;
            let key = KeyPair::from_seed(seed.trim()).map_err(invalid)?;
            let has_type = key.public_key().starts_with(prefix);
            has_type.then_some(key).ok_or_else(|| invalid(format!("`{name}` has the wrong key type")))
        };
        Ok(Self {
            operator: key("operator", "O")?,
            account: key("account", "A")?,
            system: key("system_account", "A")?,
        })
    }

    /// Returns the secret keys as text. The holder of the keys can issue any user.
    pub fn to_text(&self) -> Result<String, AuthorityError> {
        let json = json!({
            "operator": self.operator.seed().map_err(invalid)?,
            "account": self.account.seed().map_err(invalid)?,
            "system_account": self.system.seed().map_err(invalid)?,
        });
        Ok(format!("{json:#}\n"))
    }

    /// Derives 32 secret bytes from the account key, deterministically for each text.
    pub fn derive_secret(&self, text: &str) -> Result<[u8; 32], AuthorityError> {
        // The digest is computed from an Ed25519 signature that is never published. Ed25519 signatures are
        // deterministic.
        let signature = self.account.sign(format!("stoker derives {text}").as_bytes()).map_err(invalid)?;
        Ok(Sha256::digest(&signature).into())
    }

    pub fn account_key(&self) -> String {
        self.account.public_key()
    }

    pub fn system_account_key(&self) -> String {
        self.system.public_key()
    }

    pub fn operator_claim(&self, now: Seconds) -> Result<String, AuthorityError> {
        let nats = json!({"type": "operator", "version": 2, "system_account": self.system.public_key()});
        let claim = Claim { subject: &self.operator, name: "stoker", now, expires: None, nats };
        claim.signed_by(&self.operator)
    }

    /// Returns the claim of Stoker's account, with its revoked users.
    pub fn account_claim(&self, now: Seconds, revoked: &Revocations) -> Result<String, AuthorityError> {
        let nats = account(revoked, &DISK);
        let claim = Claim { subject: &self.account, name: "stoker", now, expires: None, nats };
        claim.signed_by(&self.operator)
    }

    /// Returns the claim of the system account. The claim has no JetStream limits, because NATS rejects a
    /// system account that has any.
    pub fn system_account_claim(&self, now: Seconds) -> Result<String, AuthorityError> {
        let nats = account(&Revocations::new(), &NO_DISK);
        let claim = Claim { subject: &self.system, name: "system", now, expires: None, nats };
        claim.signed_by(&self.operator)
    }

    /// Issues a user of the account with a key derived from these bytes; without `permissions` it is
    /// unrestricted.
    pub fn user(
        &self,
        key: [u8; 32],
        name: &str,
        permissions: Option<&Permissions>,
        now: Seconds,
        expires: Option<Seconds>,
    ) -> Result<NatsUser, AuthorityError> {
        let mut nats = json!({"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1});
        nats["pub"] = permissions.map_or(json!({}), |allowed| json!({"allow": allowed.publish}));
        nats["sub"] = permissions.map_or(json!({}), |allowed| json!({"allow": allowed.subscribe}));
        issue_user(key, name, nats, now, expires, &self.account)
    }

    /// Issues a user that may update accounts in NATS.
    pub fn system_user(
        &self,
        key: [u8; 32],
        now: Seconds,
        expires: Seconds,
    ) -> Result<NatsUser, AuthorityError> {
        let nats = json!({
            "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {},
        });
        issue_user(key, "stoker", nats, now, Some(expires), &self.system)
    }
}

/// Returns the public key of the user with this key.
pub fn user_key(key: [u8; 32]) -> Result<String, AuthorityError> {
    Ok(KeyPair::new_from_raw(KeyPairType::User, key).map_err(invalid)?.public_key())
}

/// Parses the issue time and revocations of an account claim; empty if the claim is invalid.
pub(crate) fn revocations_of(claim: &str) -> (Seconds, Revocations) {
    let read = || {
        let body = BASE64_URL_SAFE_NO_PAD.decode(claim.trim().split('.').nth(1)?).ok()?;
        serde_json::from_slice::<Value>(&body).ok()
    };
    let json = read().unwrap_or_default();
    let revoked = json.get("nats").and_then(|nats| nats.get("revocations")?.as_object());
    let revoked = revoked.into_iter().flatten().filter_map(|(key, at)| Some((key.clone(), at.as_i64()?)));
    (json.get("iat").and_then(Value::as_i64).unwrap_or_default(), revoked.collect())
}

impl NatsUser {
    /// Returns the credentials file in the format of the NATS tools.
    pub fn to_file(&self) -> String {
        let Self { jwt, seed } = self;
        format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// JetStream limits of an account.
struct Disk {
    bytes: u64,
    streams: u32,
    consumers: u32,
}

/// JetStream disk limit of the account: twice the space for results of agents.
pub const DISK_BYTES: u64 = 1 << 30;
const DISK: Disk = Disk { bytes: DISK_BYTES, streams: 4, consumers: 16 };
const NO_DISK: Disk = Disk { bytes: 0, streams: 0, consumers: 0 };

fn account(revoked: &Revocations, disk: &Disk) -> Value {
    json!({
        "type": "account",
        "version": 2,
        "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": 0, "disk_storage": disk.bytes, "streams": disk.streams,
            "consumer": disk.consumers,
        },
        "default_permissions": {"pub": {}, "sub": {}},
        "revocations": revoked,
    })
}

fn issue_user(
    key: [u8; 32],
    name: &str,
    nats: Value,
    now: Seconds,
    expires: Option<Seconds>,
    by: &KeyPair,
) -> Result<NatsUser, AuthorityError> {
    let subject = KeyPair::new_from_raw(KeyPairType::User, key).map_err(invalid)?;
    let jwt = Claim { subject: &subject, name, now, expires, nats }.signed_by(by)?;
    Ok(NatsUser { jwt, seed: subject.seed().map_err(invalid)? })
}

/// Unsigned claim about a key.
struct Claim<'a> {
    subject: &'a KeyPair,
    name: &'a str,
    now: Seconds,
    expires: Option<Seconds>,
    nats: Value,
}

impl Claim<'_> {
    fn signed_by(self, issuer: &KeyPair) -> Result<String, AuthorityError> {
        let mut body = json!({
            "iat": self.now,
            "iss": issuer.public_key(),
            "name": self.name,
            "sub": self.subject.public_key(),
            "nats": self.nats,
        });
        if let Some(expires) = self.expires {
            body["exp"] = expires.into();
        }
        // JWT id; equal claims may have equal ids.
        let digest = Sha256::digest(body.to_string().as_bytes());
        body["jti"] = BASE64_URL_SAFE_NO_PAD.encode(digest).into();
        let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
        let encode = |json: &Value| BASE64_URL_SAFE_NO_PAD.encode(json.to_string());
        let text = format!("{}.{}", encode(&head), encode(&body));
        let signature = issuer.sign(text.as_bytes()).map_err(invalid)?;
        Ok(format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn invalid(error: impl Into<BoxedError>) -> AuthorityError {
    AuthorityError(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority() -> NatsAuthority {
        NatsAuthority::new([1; 32], [2; 32], [3; 32]).expect("keys")
    }

    #[test]
    fn keys_round_trip() {
        let text = authority().to_text().expect("text");
        let read = NatsAuthority::parse(&text).expect("keys");
        assert_eq!(read.account_key(), authority().account_key());
        for invalid in ["", "{}", r#"{"operator": "SO", "account": "", "system_account": ""}"#] {
            assert!(NatsAuthority::parse(invalid).is_err(), "{invalid}");
        }
        let swapped = text.replace("\"operator\"", "\"x\"").replace("\"account\"", "\"operator\"");
        assert!(NatsAuthority::parse(&swapped).is_err());
    }

    #[test]
    fn claims_are_signed_and_contain_permissions() {
        let permissions =
            Permissions { publish: vec!["a.out.>".to_owned()], subscribe: vec!["a.in.>".to_owned()] };
        let user = authority().user([4; 32], "node 7", Some(&permissions), 100, Some(200)).expect("a user");
        let parts: Vec<&str> = user.jwt.split('.').collect();
        let [head, body, signature] = parts[..] else { panic!("three parts") };
        let account = KeyPair::from_public_key(&authority().account_key()).expect("a key");
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");
        account.verify(format!("{head}.{body}").as_bytes(), &signature).expect("signed");
        let body: Value =
            serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(body).expect("base64")).expect("JSON");
        assert_eq!(body["sub"], user_key([4; 32]).expect("a key"));
        assert_eq!((&body["iat"], &body["exp"]), (&json!(100), &json!(200)));
        assert_eq!(body["nats"]["pub"]["allow"], json!(["a.out.>"]));
        assert_eq!(body["nats"]["sub"]["allow"], json!(["a.in.>"]));
    }

    #[test]
    fn revocations_round_trip_through_the_claim() {
        let revoked = Revocations::from([("UABC".to_owned(), 7)]);
        let claim = authority().account_claim(100, &revoked).expect("a claim");
        assert_eq!(revocations_of(&claim), (100, revoked));
        for nonsense in ["", "a.b.c", "a"] {
            assert_eq!(revocations_of(nonsense), (0, Revocations::new()));
        }
    }
}
