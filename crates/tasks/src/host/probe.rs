//! Questions about the network.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Whether a TCP connection to the port succeeds.
    Port { host: String, port: u16 },
    /// Whether a GET request is answered with this status. Redirects are not followed.
    Url { url: String, status: u16 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    pub is_met: bool,
    /// What was found, as a sentence.
    pub finding: String,
}
