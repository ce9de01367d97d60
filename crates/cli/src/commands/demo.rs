//! `stoker demo`: a server, two plugins, five nodes and a deployment, for somebody who has five minutes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anstyle::{Effects, Style};

use crate::exit::{Failure, Outcome};
use crate::host::SystemHost;
use crate::printer::Printer;
use crate::terminal;
use crate::text::wrapped;

/// Watch Stoker work on a small example: plan, deploy, change, deploy again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Starts a server of its own in a temporary folder, on a port that is free, with an agent for each node inside of it, and
runs the commands that it shows. Tasks of the demo print a line and touch nothing. At the end the server is stopped
and the folder is removed; with `--keep` both stay, and it is told how to look at them and how to end them.

Examples:
  stoker demo
  stoker demo --keep")]
pub(crate) struct Args {
    /// Leave the server running at the end
    #[arg(long)]
    keep: bool,
}

/// A file among the examples, with its name there.
macro_rules! document {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../examples/demo/", $name)))
    };
}

/// Documents of the demo, as they are among the examples.
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
    /// A command that is to succeed.
    Do(&'static str),
    /// One that is to be refused, which is what it shows.
    Refused(&'static str),
    /// Five machines, which is five times the same.
    Nodes,
}

/// What is told, and what is done.
const STORY: &[(&str, &[Step])] = &[
    (
        "A release is what can be deployed: roles, settings, a graph of tasks, and a wizard with components",
        &[Step::Do("release create --file release.yaml")],
    ),
    (
        "Plugins add tasks, change those of others, and say what they go together with",
        &[Step::Do("plugin install plugins/monitoring"), Step::Do("plugin install plugins/gridnet")],
    ),
    (
        "What does not go together is refused",
        &[Step::Refused("env create shop --release 1 --component hypervisor:vmware,network:core:gridnet")],
    ),
    (
        "What goes together becomes a cluster, with a graph of its own and both plugins",
        &[
            Step::Do("env create shop --release 1 --component hypervisor:core:kvm,network:core:gridnet"),
            Step::Do("plugin enable monitoring --env 1"),
            Step::Do("graph upload --env 1 --type default --file cluster-graph.yaml"),
        ],
    ),
    (
        "Mistakes are told all at once, each in its line, and nothing is stored",
        &[Step::Refused("graph upload --env 1 --type default --file broken-graph.yaml")],
    ),
    (
        "Five machines: one keeps the orders, four answer customers",
        &[
            Step::Nodes,
            Step::Do("env add nodes 1 --node 1 --role database"),
            Step::Do("env add nodes 1 --node 2,3,4,5 --role web"),
        ],
    ),
    ("Plugins have their order: by stage, then by number", &[Step::Do("plugin order --env 1")]),
    (
        "What the cluster runs is merged from its release, itself and its plugins",
        &[Step::Do("graph show --env 1")],
    ),
    ("What will be done, and why; then it is done", &[Step::Do("apply --env 1 --yes")]),
    (
        "Somebody switches debugging on: only what depends on it is done",
        &[Step::Do("settings set --env 1 common.debug=true"), Step::Do("apply --env 1 --yes")],
    ),
    ("Everything is remembered", &[Step::Do("run list")]),
];

const N_NODES: usize = 5;
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().effects(Effects::DIMMED);

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let cannot =
        |error: std::io::Error| Failure::input(format!("cannot make a folder for the demo: {error}"));
    let folder = tempfile::Builder::new().prefix("stoker-demo-").tempdir().map_err(cannot)?;
    for (name, text) in DOCUMENTS {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder.path())).map_err(cannot)?;
        fs::write(path, text).map_err(cannot)?;
    }
    let mut demo = Demo::start(folder.path())?;
    printer.page(&format!("{BOLD}Stoker on five machines{BOLD:#}\nThe server listens on {}", demo.url))?;
    demo.play(printer)?;
    let Demo { url, password, .. } = &demo;
    if args.keep {
        printer.page(&format!(
            "\n{BOLD}The server goes on{BOLD:#}\n  web address  {url}/\n  login        admin, password {password}\n  \
             commands     stoker login --server {url}\n  data         {}\n  end it with  kill {}",
            folder.path().display(),
            demo.server.child.id(),
        ))?;
        demo.server.is_kept = true;
        _ = folder.keep();
    } else {
        let rest = format!(
            "The server at {url}/ (admin, password {password}) ends now; with `stoker demo --keep` it goes on."
        );
        let rest = wrapped(&rest, terminal::width(), 0);
        printer.page(&format!("\n{BOLD}That was the demo.{BOLD:#}\n{rest}"))?;
        // First the server, then its folder.
        drop(demo);
        let removed = folder.close();
        removed.map_err(|error| Failure::input(format!("cannot remove the folder of the demo: {error}")))?;
    }
    Ok(())
}

struct Demo {
    folder: PathBuf,
    url: String,
    password: String,
    server: Server,
}

/// The server; ended with this value, unless it is kept.
struct Server {
    child: Child,
    is_kept: bool,
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.is_kept {
            // It may have ended already.
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// How long a server may take to listen, on however busy a machine.
const TRIES_MAX: usize = 600;
const LOOK: Duration = Duration::from_millis(100);

impl Demo {
    fn start(folder: &Path) -> Outcome<Self> {
        let host = SystemHost::new(None);
        let bits = || stoker_yaql::Host::random_bits(&host);
        let password = format!("{:016x}", bits() ^ bits().rotate_left(32));
        let cannot = |error: std::io::Error| Failure::unavailable(&error);
        let log = folder.join("server.log");
        let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
        command.args(["serve", "--local-agents", "--listen", "127.0.0.1:0", "--data-dir", "data"]);
        // Whoever tries it out is seldom root, and scripts of plugins are not for this machine.
        command.arg("--plugin-scripts-root").arg(folder.join("scripts"));
        command.current_dir(folder).env("STOKER_ADMIN_PASSWORD", &password).env_remove("STOKER_DATABASE_URL");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).map_err(cannot)?);
        let mut server = Server { child: command.spawn().map_err(cannot)?, is_kept: false };
        let url = listening(&log, &mut server)?;
        Ok(Self { folder: folder.to_owned(), url, password, server })
    }

    fn play(&mut self, printer: &mut Printer) -> Outcome {
        for (title, steps) in STORY {
            printer.page(&format!("\n{BOLD}{}{BOLD:#}", wrapped(title, terminal::width(), 0)))?;
            for step in *steps {
                self.step(step, printer)?;
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step, printer: &mut Printer) -> Outcome {
        match step {
            Step::Do(line) => self.expect(line, 0..=0, printer),
            Step::Refused(line) => self.expect(line, 1..=3, printer),
            Step::Nodes => {
                let line = "node create --mac 52:54:00:00:00:0N";
                printer.page(&format!("{DIM}$ stoker {line}  (for N from 1 to {N_NODES}){DIM:#}"))?;
                for number in 1..=N_NODES {
                    let line =
                        format!("--quiet node create --mac 52:54:00:00:00:0{number} --name machine-{number}");
                    let made = self.command(&line)?.stdout(Stdio::null()).status();
                    judge(&line, made, &(0..=0))?;
                }
                Ok(())
            }
        }
    }

    fn expect(&self, line: &str, codes: std::ops::RangeInclusive<i32>, printer: &mut Printer) -> Outcome {
        printer.page(&format!("{DIM}$ stoker {line}{DIM:#}"))?;
        judge(line, self.command(line)?.status(), &codes)
    }

    /// This program with these words, as somebody would type them, but with a login of its own.
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

/// Fails if a command did not end as the story says.
fn judge(
    line: &str,
    ended: std::io::Result<std::process::ExitStatus>,
    codes: &std::ops::RangeInclusive<i32>,
) -> Outcome {
    let status = ended.map_err(|error| Failure::unavailable(&error))?;
    match status.code() {
        Some(code) if codes.contains(&code) => Ok(()),
        _ => Err(Failure::failed(format!("the demo ends here: `stoker {line}` ended with {status}"))),
    }
}

/// The address that the server told its log.
fn listening(log: &Path, server: &mut Server) -> Outcome<String> {
    for _ in 0..TRIES_MAX {
        let told = fs::read_to_string(log).unwrap_or_default();
        let address = told.split_once("listens on ").and_then(|(_, rest)| rest.split_whitespace().next());
        // The line may be there by half.
        if let Some(address) = address.filter(|_| told.ends_with('\n')) {
            return Ok(address.to_owned());
        }
        if server.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return Err(Failure::failed(format!("the server of the demo ended: {}", told.trim())));
        }
        pause();
    }
    Err(Failure::failed("the server of the demo does not listen"))
}

#[expect(clippy::disallowed_methods, reason = "a command has nothing else to do meanwhile")]
fn pause() {
    std::thread::sleep(LOOK);
}
