//! `stoker agent`: executes tasks on this node.

use std::collections::BTreeMap;
use std::path::PathBuf;

use stoker_settings::{AgentConnection, AgentNats, AgentSettings, AgentTrust, Secret};

use super::serve::{LogArgs, start_logging, traces};
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::programs::Programs;

/// Run the agent on this node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
On its first start, the agent joins the server with a join token; afterwards it authenticates with a credential in its
state folder. A server with a certificate authority also issues a certificate, which the agent renews before it expires.
Set STOKER_JOIN_TOKEN instead of `--join-token` to keep the token out of the process list. STOKER_SERVER is the default of
`--server`, STOKER_LOG that of `--log`; OTEL_EXPORTER_OTLP_ENDPOINT and related variables configure trace export. On
SIGTERM, the agent terminates its tasks and exits.

Precedence of options: flags, then environment variables, then the configuration file, then defaults. `stoker config show
agent` shows the origin of each value.

Exit codes: 0 stopped by a signal; 2 invalid usage; 5 not joined, rejected by the server, or unusable state folder.

Examples:
  STOKER_JOIN_TOKEN=… stoker agent --server https://stoker.example:8000
  stoker agent --config /etc/stoker/agent.toml
  stoker agent --server https://one.example:8000 --server https://two.example:8000
  STOKER_JOIN_TOKEN=… stoker agent --server https://stoker.example:8443 --ca-fingerprint sha256:…
  stoker agent --server http://127.0.0.1:8000 --node node-5 --state /tmp/agent-5
  stoker agent --server https://stoker.example:8000 --nats tls://nats.example:4222
  stoker agent --server https://stoker.example:8000 --hook erase_node=/usr/local/bin/erase
  ssh node-5 stoker agent --stdio --node 5")]
pub(crate) struct Args {
    /// Configuration file in TOML; see `stoker config example agent`
    // Read before the arguments are parsed; see `crate::configuration`.
    #[arg(id = "config", long = "config", value_name = "FILE")]
    _config: Option<PathBuf>,

    /// Server URL; can be repeated for servers of one group, which are tried in turn
    #[arg(long, value_name = "URL", conflicts_with = "stdio", value_delimiter = ',')]
    server: Vec<String>,

    /// Join token for the first start
    #[arg(long, value_name = "TOKEN", conflicts_with = "stdio")]
    join_token: Option<String>,

    /// PEM file of CA certificates to trust in addition to the system's
    #[arg(long, value_name = "FILE", visible_alias = "ca-file", conflicts_with = "stdio")]
    ca: Option<PathBuf>,

    /// NATS URL; the agent connects to a server directly while NATS is unavailable
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    nats: Option<String>,

    /// PEM file of CA certificates to trust instead of the system's, for NATS with TLS
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_ca: Option<PathBuf>,

    /// Fingerprint of the certificate authority to trust, as printed by `stoker ca show`; needed only to join
    #[arg(long, value_name = "sha256:…", conflicts_with_all = ["stdio", "ca"])]
    ca_fingerprint: Option<stoker_tls::Fingerprint>,

    /// Communicate over standard input and output with the parent process
    #[arg(long, requires = "node")]
    stdio: bool,

    /// Node name; with `--stdio`, its UID [default: the host name]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,

    /// State folder of this agent; must not be shared
    #[arg(long, value_name = "DIR", default_value = "/var/lib/stoker-agent")]
    state: PathBuf,

    /// Site-specific program for `erase_node`, `move_to_bootstrap`, `cobbler_sync` or `reboot`; can be repeated
    #[arg(long = "hook", value_name = "NAME=PATH", value_parser = hook)]
    hooks: Vec<(String, PathBuf)>,

    #[command(flatten)]
    log: LogArgs,
}

/// Names of supported hooks.
const HOOKS: &[&str] = &["cobbler_sync", "erase_node", "move_to_bootstrap", "reboot"];

pub(super) fn hook(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=PATH")?;
    if !HOOKS.contains(&name) {
        return Err(format!("unknown hook `{name}`; expected one of {}", HOOKS.join(", ")));
    }
    let path = PathBuf::from(path);
    if path.is_absolute() { Ok((name.to_owned(), path)) } else { Err("the path must be absolute".to_owned()) }
}

pub(crate) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    start_logging(&args.log, printer);
    let link = if args.stdio {
        AgentConnection::Stdio
    } else {
        if args.server.is_empty() {
            let help = "pass `--server URL`, or set STOKER_SERVER or `server` in the configuration file";
            return Err(Failure::usage("no server URL", help));
        }
        let token = args.join_token.map(Secret::new);
        let nats = args.nats.map(|url| AgentNats { url, ca: args.nats_ca });
        let ca_fingerprint = args.ca_fingerprint.map(|fingerprint| fingerprint.to_string());
        let trust = AgentTrust { ca: args.ca, ca_fingerprint };
        AgentConnection::Server { url: args.server.join(","), token, trust, nats }
    };
    // If a hook is passed twice, the last one takes precedence.
    let hooks: BTreeMap<String, PathBuf> = args.hooks.into_iter().collect();
    let traces = traces("stoker-agent", printer);
    let settings = AgentSettings { link, node: args.node, state: args.state, hooks, traces };
    let result = (programs.agent)(settings, &mut |line| printer.note(line));
    result.map_err(|error| Failure::unavailable(error.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_need_a_known_name_and_an_absolute_path() {
        assert_eq!(hook("reboot=/sbin/x=y"), Ok(("reboot".to_owned(), PathBuf::from("/sbin/x=y"))));
        for text in ["reboot", "dance=/x", "reboot=x", "=/x"] {
            assert!(hook(text).is_err(), "{text}");
        }
    }
}
