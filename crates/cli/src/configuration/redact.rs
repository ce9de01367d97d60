//! Redaction of secrets in values that are displayed.

const MASK: &str = "****";

/// Display form of a value that is secret or contains a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redaction {
    /// Mask the whole value.
    Whole,
    /// Mask the credentials in a URL.
    Credentials,
}

impl Redaction {
    pub(super) fn apply(self, value: &str) -> String {
        match self {
            Self::Whole => MASK.to_owned(),
            Self::Credentials => mask_credentials(value),
        }
    }
}

/// Masks the password and all query parameters of a URL. A user name without password is kept in PostgreSQL URLs only: in
/// NATS URLs it is a token. A value that is not a URL is masked completely.
fn mask_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return MASK.to_owned() };
    // The last `@` ends the credentials, so that an unescaped `@` in a password does not reveal its rest. Of a list of URLs,
    // only the last host remains.
    let (credentials, rest) = match rest.rsplit_once('@') {
        Some((credentials, rest)) => (Some(credentials), rest),
        None => (None, rest),
    };
    let rest = match rest.split_once('?') {
        Some((location, _)) => format!("{location}?{MASK}"),
        None => rest.to_owned(),
    };
    let keeps_user = scheme.starts_with("postgres");
    match credentials.map(|credentials| (credentials, credentials.split_once(':'))) {
        None => format!("{scheme}://{rest}"),
        Some((user, None)) if keeps_user && !user.contains(['?', '/']) => format!("{scheme}://{user}@{rest}"),
        Some((_, Some((user, _)))) if !user.contains(['?', '/']) => {
            format!("{scheme}://{user}:{MASK}@{rest}")
        }
        Some(_) => format!("{scheme}://{MASK}@{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked() {
        let cases = [
            ("hunter2", "****"),
            ("postgres://db/stoker", "postgres://db/stoker"),
            ("postgres://stoker@db/stoker", "postgres://stoker@db/stoker"),
            ("postgres://stoker:hunter2@db/stoker", "postgres://stoker:****@db/stoker"),
            ("postgres://stoker:hunt@er2@db/stoker", "postgres://stoker:****@db/stoker"),
            ("postgres://stoker:hunter2/x@db", "postgres://stoker:****@db"),
            ("postgres://db/stoker?password=hunter2", "postgres://db/stoker?****"),
            ("postgres://db/stoker?password=hunter2@x", "postgres://****@x"),
            ("nats://hunter2@nats:4222", "nats://****@nats:4222"),
            ("nats://a:hunter2@one,nats://b:hunter2@two:4222", "nats://a:****@two:4222"),
            ("tls://nats.example:4222", "tls://nats.example:4222"),
        ];
        for (url, expected) in cases {
            assert_eq!(Redaction::Credentials.apply(url), expected, "{url}");
        }
        assert_eq!(Redaction::Whole.apply("hunter2"), "****");
    }
}
