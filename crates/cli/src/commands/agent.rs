//! `stoker agent`: carries out tasks on this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use stoker_settings::{Agent, AgentLink, AgentNats, AgentTrust, Secret};

use super::serve::{start_logging, traces};
use crate::environment;
use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::programs::Programs;

/// Run the agent of this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first start joins the server with a token; after that the agent uses a credential of its own, kept in its
folder. From a server with a certificate authority it gets a certificate as well, and renews it in time.
STOKER_JOIN_TOKEN stands in for --join-token, which would otherwise be seen in the list of processes.
STOKER_LOG sets what is logged (`info`, `stoker_agent=debug`); OTEL_EXPORTER_OTLP_ENDPOINT and its kin say where
traces are sent. The agent ends on SIGTERM, with all it runs.

Exit codes: 0 asked to end; 2 wrong usage; 5 no member yet, refused by the server, or its folder cannot be used.

Examples:
  STOKER_JOIN_TOKEN=… stoker agent --server https://stoker.example:8000
  stoker agent --server https://one.example:8000 --server https://two.example:8000
  STOKER_JOIN_TOKEN=… stoker agent --server https://stoker.example:8443 --ca-fingerprint sha256:…
  stoker agent --server http://127.0.0.1:8000 --node node-5 --state /tmp/agent-5
  stoker agent --server https://stoker.example:8000 --nats tls://nats.example:4222
  stoker agent --server https://stoker.example:8000 --hook erase_node=/usr/local/bin/erase
  ssh node-5 stoker agent --stdio --node 5")]
pub(crate) struct Args {
    /// The server to connect to; several of one group, given one after the other, are tried in turn
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "stdio",
        conflicts_with = "stdio",
        value_delimiter = ','
    )]
    server: Vec<String>,

    /// Token to join the server with, once
    #[arg(long, value_name = "TOKEN", conflicts_with = "stdio")]
    join_token: Option<String>,

    /// Certificates to trust besides those of the system, in PEM form
    #[arg(long, value_name = "FILE", visible_alias = "ca-file", conflicts_with = "stdio")]
    ca: Option<PathBuf>,

    /// NATS, to speak through it with whichever server takes the call; straight to the server while it is away
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    nats: Option<String>,

    /// Certificates to trust in place of those of the system, for a NATS with TLS
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_ca: Option<PathBuf>,

    /// The fingerprint of the one authority to trust, as `stoker ca show` tells it; needed for joining only
    #[arg(long, value_name = "sha256:…", conflicts_with_all = ["stdio", "ca"])]
    ca_fingerprint: Option<stoker_tls::Fingerprint>,

    /// Talk with whoever started this, through standard input and output
    #[arg(long, requires = "node")]
    stdio: bool,

    /// How this node is called; with --stdio its uid [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,

    /// The folder of this agent, which no other shares
    #[arg(long, value_name = "DIR", default_value = "/var/lib/stoker-agent")]
    state: PathBuf,

    /// A program for what depends on the place: `erase_node`, `move_to_bootstrap`, `cobbler_sync`, `reboot`
    #[arg(long = "hook", value_name = "NAME=PATH", value_parser = hook)]
    hooks: Vec<(String, PathBuf)>,

    /// How the log is written to standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    log_format: String,
}

/// What a hook can be for.
const HOOKS: &[&str] = &["cobbler_sync", "erase_node", "move_to_bootstrap", "reboot"];

pub(super) fn hook(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("must be NAME=PATH")?;
    if !HOOKS.contains(&name) {
        return Err(format!("there is no hook `{name}`; there are {}", HOOKS.join(", ")));
    }
    let path = PathBuf::from(path);
    if path.is_absolute() {
        Ok((name.to_owned(), path))
    } else {
        Err("the path must begin with `/`".to_owned())
    }
}

pub(crate) fn run(args: Args, programs: &Programs, printer: &mut Printer) -> Outcome {
    start_logging(&args.log_format, printer);
    let link = if args.stdio {
        AgentLink::Stdio
    } else {
        let token = args.join_token.or_else(environment::join_token).map(Secret::new);
        let nats = args.nats.map(|url| AgentNats { url, ca: args.nats_ca });
        let ca_fingerprint = args.ca_fingerprint.map(|fingerprint| fingerprint.to_string());
        let trust = AgentTrust { ca: args.ca, ca_fingerprint };
        AgentLink::Server { url: args.server.join(","), token, trust, nats }
    };
    // Two programs for one name: the last one counts, as everywhere on the command line.
    let hooks: BTreeMap<String, PathBuf> = args.hooks.into_iter().collect();
    let traces = traces("stoker-agent", printer);
    let settings = Agent { link, node: args.node, state: args.state, hooks, traces };
    let done = (programs.agent)(settings, &mut |line| printer.note(line));
    done.map_err(|error| Failure::unavailable(error.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_have_known_names_and_whole_paths() {
        assert_eq!(hook("reboot=/sbin/x=y"), Ok(("reboot".to_owned(), PathBuf::from("/sbin/x=y"))));
        for text in ["reboot", "dance=/x", "reboot=x", "=/x"] {
            assert!(hook(text).is_err(), "{text}");
        }
    }
}
