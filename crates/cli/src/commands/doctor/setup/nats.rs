//! A NATS server, where one is named: it greets whoever connects.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::Value as Json;

use super::Setup;
use crate::commands::doctor::finding::Finding;

const CHECK: &str = "nats";
const PATIENCE: Duration = Duration::from_secs(5);
const PORT: u16 = 4222;
const GREETING_BYTES_MAX: u64 = 1 << 20;

pub(super) fn check(setup: &Setup) -> Vec<Finding> {
    let Some(url) = &setup.nats else { return Vec::new() };
    let help = "is its address right, and does it run? without it servers and agents go on, only slower";
    vec![match greeting(url) {
        Ok(info) => {
            let version = info["version"].as_str().unwrap_or("?");
            if info["jetstream"] == true {
                Finding::ok(CHECK, format!("NATS {version} answers and has JetStream"))
            } else {
                let help = "start it with what `stoker nats init` writes, or with `--jetstream`; till then results of \
                            agents on it are with the agents alone until a server has them";
                Finding::warning(CHECK, format!("NATS {version} has no JetStream"), help)
            }
        }
        Err(why) => Finding::problem(CHECK, why, help),
    }]
}

fn greeting(url: &str) -> Result<Json, String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host).trim_end_matches('/');
    let host = if rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        rest.to_owned()
    } else {
        format!("{rest}:{PORT}")
    };
    let away = |error: std::io::Error| format!("{host} does not answer: {error}");
    let mut addresses = host.to_socket_addrs().map_err(away)?;
    let address = addresses.next().ok_or_else(|| format!("{host} has no address"))?;
    let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(away)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(away)?;
    let mut line = String::new();
    BufReader::new(stream.take(GREETING_BYTES_MAX)).read_line(&mut line).map_err(away)?;
    let info = line.strip_prefix("INFO ").and_then(|json| serde_json::from_str(json.trim()).ok());
    info.ok_or_else(|| format!("{host} is no NATS server"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_is_known_by_its_greeting() {
        for (said, is_nats) in
            [("INFO {\"version\": \"2.9\", \"jetstream\": true}\r\n", true), ("HTTP/1.1 400\r\n", false)]
        {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("nats://user:pass@{}", listener.local_addr().unwrap());
            let talk = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(said.as_bytes()).unwrap();
            });
            assert_eq!(greeting(&url).is_ok(), is_nats, "{said}");
            talk.join().unwrap();
            assert!(greeting(&url).is_err(), "it has gone");
        }
    }
}
