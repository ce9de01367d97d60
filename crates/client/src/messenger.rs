//! HTTP POST to third-party receivers, such as webhooks and trace collectors.

use std::path::Path;
use std::time::Duration;

use ureq::Agent;

use crate::error::ClientError;
use crate::tls;

/// Posts documents to URLs chosen by users: follows no redirects, uses no proxy, reads only the response
/// status, and applies one timeout to everything.
#[derive(Clone)]
pub struct HttpPoster {
    agent: Agent,
}

impl HttpPoster {
    /// `time_max` covers the whole request, from name resolution to the response status.
    pub fn new(time_max: Duration) -> Result<Self, ClientError> {
        Self::with_ca_file(time_max, None)
    }

    /// Like [`Messenger::new`], with the certificates of a file trusted in addition to those of the system.
    pub fn with_ca_file(time_max: Duration, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("stoker/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(time_max))
            .proxy(None)
            // Messages are rare, and a stale connection to a restarted receiver would lose one.
            .max_idle_connections(0)
            .tls_config(tls::config(ca_file)?);
        Ok(Self { agent: config.build().into() })
    }

    /// Returns the response status. The content type is JSON unless a header overrides it.
    pub fn post(&self, url: &str, headers: &[(&str, String)], body: &[u8]) -> Result<u16, ClientError> {
        const TYPE: &str = "content-type";
        let mut request = self.agent.post(url);
        if !headers.iter().any(|(name, _)| *name == TYPE) {
            request = request.header(TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        match request.send(body) {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => {
                Err(ClientError::Unreachable { server: redact(url).to_owned(), why: error.to_string() })
            }
        }
    }
}

/// The URL without query and fragment, which may contain secrets.
fn redact(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
