//! `stoker demo`: deploys an example on a temporary server with five nodes and two plugins.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anstyle::{Effects, Style};

use crate::exit::{Failure, Outcome};
use crate::host::SystemHost;
use crate::printer::Printer;
use crate::terminal;
use crate::text::wrap;

/// Run a short demo: plan, deploy, change a setting, deploy again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Starts a temporary server on a free port, with an in-process agent for each node, then prints and runs a series of commands.
The tasks of the demo only print a line. At the end, the server is stopped and its directory is deleted; with `--keep`, both
remain, and the demo prints how to access and stop the server.

Examples:
  stoker demo
  stoker demo --keep")]
pub(crate) struct Args {
    /// Leave the server running after the demo
    #[arg(long)]
    keep: bool,
}

/// An embedded example file with its name.
macro_rules! document {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../examples/demo/", $name)))
    };
}

/// Example files of the demo, written to its directory.
const DOCUMENTS: &[(&str, &str)] = &[
    // sorted
    document!("broken-graph.yaml"),
    document!("cluster-graph.yaml"),
    document!("plugins/gridnet/deployment_scripts/.keep"),
    document!("plugins/gridnet/deployment_tasks.yaml"),
    document!("plugins/gridnet/environment_config.yaml"),
    document!("plugins/gridnet/metadata.yaml"),
    document!("plugins/gridnet/repositories/ubuntu/.keep"),
    document!("plugins/gridnet/wizard_metadata.yaml"),
    document!("plugins/monitoring/deployment_scripts/.keep"),
    document!("plugins/monitoring/deployment_tasks.yaml"),
    document!("plugins/monitoring/environment_config.yaml"),
    document!("plugins/monitoring/metadata.yaml"),
    document!("plugins/monitoring/repositories/ubuntu/.keep"),
    document!("release.yaml"),
    // end sorted
];

enum Step {
    /// A command that must succeed.
    Run(&'static str),
    /// A command that must be rejected.
    Rejected(&'static str),
    /// Creates all nodes; prints the command once.
    Nodes,
}

/// Titles and steps of the demo.
const SCENES: &[(&str, &[Step])] = &[
    (
        "A release defines what can be deployed: roles, settings, a task graph and a wizard with components",
        &[Step::Run("release create --file release.yaml")],
    ),
    (
        "Plugins add and change tasks and declare which components they are compatible with",
        &[Step::Run("plugin install plugins/monitoring"), Step::Run("plugin install plugins/gridnet")],
    ),
    (
        "Incompatible components are rejected",
        &[Step::Rejected("env create shop --release 1 --component hypervisor:vmware,network:core:gridnet")],
    ),
    (
        "Create a cluster from compatible components, with its own graph and both plugins",
        &[
            Step::Run("env create shop --release 1 --component hypervisor:core:kvm,network:core:gridnet"),
            Step::Run("plugin enable monitoring --env 1"),
            Step::Run("graph upload --env 1 --type default --file cluster-graph.yaml"),
        ],
    ),
    (
        "An invalid graph is rejected; all problems are reported with their lines",
        &[Step::Rejected("graph upload --env 1 --type default --file broken-graph.yaml")],
    ),
    (
        "Create five nodes: one database server and four web servers",
        &[
            Step::Nodes,
            Step::Run("env add nodes 1 --node 1 --role database"),
            Step::Run("env add nodes 1 --node 2,3,4,5 --role web"),
        ],
    ),
    ("Tasks of plugins are ordered by stage, then by number", &[Step::Run("plugin order --env 1")]),
    (
        "The graph of the cluster is merged from its release, the cluster itself and its plugins",
        &[Step::Run("graph show --env 1")],
    ),
    ("Plan and apply: the plan shows which tasks run and why", &[Step::Run("apply --env 1 --yes")]),
    (
        "Change a setting: only the tasks that depend on it run again",
        &[Step::Run("settings set --env 1 common.debug=true"), Step::Run("apply --env 1 --yes")],
    ),
    ("All runs are recorded", &[Step::Run("run list")]),
];

const N_NODES: usize = 5;
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().effects(Effects::DIMMED);

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let io_failure =
        |error: std::io::Error| Failure::input(format!("cannot create the demo directory: {error}"));
    let folder = tempfile::Builder::new().prefix("stoker-demo-").tempdir().map_err(io_failure)?;
    for (name, text) in DOCUMENTS {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(io_failure)?;
        fs::write(path, text).map_err(io_failure)?;
    }
    let mut demo = Demo::start(folder.path())?;
    printer.page(&format!("{BOLD}Stoker on five nodes{BOLD:#}\nThe server listens on {}", demo.url))?;
    demo.run_steps(printer)?;
    let Demo { url, password, .. } = &demo;
    if args.keep {
        printer.page(&format!(
            "\n{BOLD}The server is still running{BOLD:#}\n  web UI       {url}/\n  login        admin, password {password}\n  \
             commands     stoker login --server {url}\n  data         {}\n  stop it with kill {}",
            folder.path().display(),
            demo.server.child.id(),
        ))?;
        demo.server.keep_running = true;
        _ = folder.keep();
    } else {
        let note =
            format!("The server at {url}/ is stopped now. To keep it running, use `stoker demo --keep`.");
        let note = wrap(&note, terminal::width(), 0);
        printer.page(&format!("\n{BOLD}Demo finished{BOLD:#}\n{note}"))?;
        // Stop the server before its directory is deleted.
        drop(demo);
        let result = folder.close();
        result.map_err(|error| Failure::input(format!("cannot delete the demo directory: {error}")))?;
    }
    Ok(())
}

struct Demo {
    folder: PathBuf,
    url: String,
    password: String,
    server: Server,
}

/// The server process; killed on drop unless kept.
struct Server {
    child: Child,
    keep_running: bool,
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.keep_running {
            // The process may have exited already.
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// Maximum number of polls until the server listens: 60 s, sufficient for a busy machine.
const POLLS_MAX: usize = 600;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl Demo {
    fn start(folder: &Path) -> Outcome<Self> {
        let host = SystemHost::new(None);
        let bits = || stoker_yaql::Host::random_bits(&host);
        let password = format!("{:016x}", bits() ^ bits().rotate_left(32));
        let io_failure = |error: std::io::Error| Failure::unavailable(&error);
        let log = folder.join("server.log");
        let mut command = Command::new(std::env::current_exe().map_err(io_failure)?);
        let address = free_address().map_err(io_failure)?;
        command.args(["serve", "--local-agents", "--data-dir", "data", "--listen", &address.to_string()]);
        // Users of the demo are rarely root, and scripts of plugins must not be installed on this machine.
        command.arg("--plugin-scripts-root").arg(folder.join("scripts"));
        command.current_dir(folder).env("STOKER_ADMIN_PASSWORD", &password).env_remove("STOKER_DATABASE_URL");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).map_err(io_failure)?);
        let mut server = Server { child: command.spawn().map_err(io_failure)?, keep_running: false };
        wait_until_listening(address, &log, &mut server)?;
        Ok(Self { folder: folder.to_owned(), url: format!("http://{address}"), password, server })
    }

    fn run_steps(&mut self, printer: &mut Printer) -> Outcome {
        for (title, steps) in SCENES {
            printer.page(&format!("\n{BOLD}{}{BOLD:#}", wrap(title, terminal::width(), 0)))?;
            for step in *steps {
                self.run_step(step, printer)?;
            }
        }
        Ok(())
    }

    fn run_step(&self, step: &Step, printer: &mut Printer) -> Outcome {
        match step {
            Step::Run(line) => self.expect(line, 0..=0, printer),
            Step::Rejected(line) => self.expect(line, 1..=3, printer),
            Step::Nodes => {
                let line = "node create --mac 52:54:00:00:00:0N";
                printer.page(&format!("{DIM}$ stoker {line}  (for N from 1 to {N_NODES}){DIM:#}"))?;
                for number in 1..=N_NODES {
                    let line =
                        format!("--quiet node create --mac 52:54:00:00:00:0{number} --name machine-{number}");
                    let status = self.command(&line)?.stdout(Stdio::null()).status();
                    check_status(&line, status, &(0..=0))?;
                }
                Ok(())
            }
        }
    }

    fn expect(&self, line: &str, codes: std::ops::RangeInclusive<i32>, printer: &mut Printer) -> Outcome {
        printer.page(&format!("{DIM}$ stoker {line}{DIM:#}"))?;
        check_status(line, self.command(line)?.status(), &codes)
    }

    /// Returns the command of a step, with the credentials of the demo server.
    fn command(&self, line: &str) -> Outcome<Command> {
        let program = std::env::current_exe().map_err(|error| Failure::unavailable(&error))?;
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(&self.folder).stdin(Stdio::null());
        command.env("STOKER_SERVER", &self.url).env("STOKER_PASSWORD", &self.password);
        command.env("STOKER_USER", "admin").env_remove("STOKER_TOKEN");
        command.env("XDG_CONFIG_HOME", self.folder.join("config"));
        Ok(command)
    }
}

/// Fails if the exit code of a command is unexpected.
fn check_status(
    line: &str,
    status: std::io::Result<std::process::ExitStatus>,
    codes: &std::ops::RangeInclusive<i32>,
) -> Outcome {
    let status = status.map_err(|error| Failure::unavailable(&error))?;
    match status.code() {
        Some(code) if codes.contains(&code) => Ok(()),
        _ => Err(Failure::failed(format!("demo failed: `stoker {line}` ended with {status}"))),
    }
}

/// Returns an address that no program listens on. If another program takes it first, the server fails to
/// start.
fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// Waits until the server accepts connections.
fn wait_until_listening(address: SocketAddr, log: &Path, server: &mut Server) -> Outcome {
    for _ in 0..POLLS_MAX {
        if server.child.try_wait().is_ok_and(|status| status.is_some()) {
            let log_text = fs::read_to_string(log).unwrap_or_default();
            return Err(Failure::failed(format!("the demo server exited: {}", log_text.trim())));
        }
        if TcpStream::connect(address).is_ok() {
            return Ok(());
        }
        pause();
    }
    Err(Failure::failed("timed out waiting for the demo server to listen"))
}

#[expect(clippy::disallowed_methods, reason = "the command polls and has nothing else to do")]
fn pause() {
    std::thread::sleep(POLL_INTERVAL);
}
