//! Messages to somebody who is no Stoker server.

use std::path::Path;
use std::time::Duration;

use ureq::Agent;

use crate::error::ClientError;
use crate::tls;

/// Sends documents to addresses that others chose: no redirect is followed, no proxy asked, nothing of the answer but
/// its status is read, and everything has an end.
#[derive(Clone)]
pub struct Messenger {
    agent: Agent,
}

impl Messenger {
    /// `time_max` is for all of it, from the name of the host to the status.
    pub fn new(time_max: Duration) -> Result<Self, ClientError> {
        Self::trusting(time_max, None)
    }

    /// The same, with the certificates of a file trusted besides those of the system.
    pub fn trusting(time_max: Duration, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("stoker/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(time_max))
            .proxy(None)
            // Messages are rare, and a receiver that was started anew must not cost one.
            .max_idle_connections(0)
            .tls_config(tls::config(ca_file)?);
        Ok(Self { agent: config.build().into() })
    }

    /// The status of the answer. A body is JSON unless a header says otherwise.
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
            Err(error) => Err(ClientError::Away { server: shown(url).to_owned(), why: error.to_string() }),
        }
    }
}

/// An address without what may be secret in it.
fn shown(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
