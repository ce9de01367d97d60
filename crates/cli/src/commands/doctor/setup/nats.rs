//! Checks a NATS server by its INFO greeting.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::Value as Json;

use stoker_model::ErrorChain;

use super::Setup;
use crate::commands::doctor::check_result::CheckResult;

const CHECK: &str = "nats";
const TIMEOUT: Duration = Duration::from_secs(5);
const PORT: u16 = 4222;
const GREETING_BYTES_MAX: u64 = 1 << 20;

pub(super) fn check(setup: &Setup) -> Vec<CheckResult> {
    let Some(url) = &setup.nats else { return Vec::new() };
    let help = "check its address and that it is running; without NATS, servers and agents connect directly";
    vec![match greeting(url) {
        Ok(info) => {
            let version = info.get("version").and_then(Json::as_str).unwrap_or("?");
            if info.get("jetstream").is_some_and(|enabled| *enabled == true) {
                CheckResult::ok(CHECK, format!("NATS {version} responds, JetStream is enabled"))
            } else {
                let help = "start NATS with the configuration of `stoker nats init`, or with `--jetstream`; without JetStream, \
                            only the agents store results until a server has received them";
                CheckResult::warning(CHECK, format!("JetStream of NATS {version} is disabled"), help)
            }
        }
        Err(error) => CheckResult::problem(CHECK, ErrorChain(&error).to_string(), help),
    }]
}

/// Error while reading the greeting of a NATS server.
#[derive(Debug, thiserror::Error)]
enum GreetingError {
    #[error("{host} does not respond: {source}")]
    NoResponse { host: String, source: io::Error },
    #[error("cannot resolve {0}")]
    Unresolved(String),
    #[error("{0} is not a NATS server")]
    OtherServer(String),
}

fn greeting(url: &str) -> Result<Json, GreetingError> {
    let host_port = url.split_once("://").map_or(url, |(_, host_port)| host_port);
    let host_port = host_port.rsplit_once('@').map_or(host_port, |(_, host)| host).trim_end_matches('/');
    let host = if host_port.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        host_port.to_owned()
    } else {
        format!("{host_port}:{PORT}")
    };
    let io_error = |source: io::Error| GreetingError::NoResponse { host: host.clone(), source };
    let mut addresses = host.to_socket_addrs().map_err(io_error)?;
    let address = addresses.next().ok_or_else(|| GreetingError::Unresolved(host.clone()))?;
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(io_error)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(io_error)?;
    let mut line = String::new();
    BufReader::new(stream.take(GREETING_BYTES_MAX)).read_line(&mut line).map_err(io_error)?;
    let info = line.strip_prefix("INFO ").and_then(|json| serde_json::from_str(json.trim()).ok());
    info.ok_or(GreetingError::OtherServer(host))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn nats_server_is_recognized_by_its_greeting() {
        for (greeting_line, is_nats) in
            [("INFO {\"version\": \"2.9\", \"jetstream\": true}\r\n", true), ("HTTP/1.1 400\r\n", false)]
        {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("nats://user:pass@{}", listener.local_addr().unwrap());
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(greeting_line.as_bytes()).unwrap();
            });
            assert_eq!(greeting(&url).is_ok(), is_nats, "{greeting_line}");
            server.join().unwrap();
            assert!(greeting(&url).is_err(), "the listener is closed");
        }
    }
}
