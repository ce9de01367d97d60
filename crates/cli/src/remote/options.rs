//! Options of every command that talks to a server.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

/// How an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Yaml,
}

/// Which server, and as whom.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Connection {
    /// Address of the server; else `STOKER_SERVER`, the last login, `http://127.0.0.1:8000`
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    server: Option<String>,

    /// Token to use in place of a login; else `STOKER_TOKEN`
    #[arg(long, value_name = "TOKEN", help_heading = HEADING)]
    token: Option<String>,

    /// Certificates to trust besides those of the system, in PEM form; else `STOKER_CA_FILE`
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    ca_file: Option<PathBuf>,

    /// Say nothing beside the answer, and of things only their ids
    #[arg(long, short, help_heading = HEADING)]
    quiet: bool,

    /// Tell every request, and in full what else is told in short
    #[arg(long, short, help_heading = HEADING)]
    verbose: bool,
}

/// Which server, as whom, and how answers are shown.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    connection: Connection,

    /// How to show answers: table, json or yaml
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true, help_heading = HEADING)]
    output: Option<Format>,
}

const HEADING: &str = "Server and output";
const IDS: [&str; 5] = ["server", "token", "ca_file", "quiet", "verbose"];
const OUTPUT: &str = "output";

/// What was asked for, before and after the noun.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) server: Option<String>,
    pub(crate) token: Option<String>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) format: Option<Format>,
    pub(crate) is_quiet: bool,
    pub(super) is_verbose: bool,
}

impl Wanted {
    pub(crate) fn format(&self) -> Format {
        self.format.unwrap_or_default()
    }
}

impl Connection {
    fn over(&self, earlier: &Options, output: Option<Format>) -> Wanted {
        let before = &earlier.connection;
        Wanted {
            server: self.server.clone().or_else(|| before.server.clone()),
            token: self.token.clone().or_else(|| before.token.clone()),
            ca_file: self.ca_file.clone().or_else(|| before.ca_file.clone()),
            format: output.or(earlier.output),
            is_quiet: self.quiet || before.quiet,
            is_verbose: self.verbose || before.verbose,
        }
    }
}

impl Options {
    /// The name of an option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--server", self.connection.server.is_some()),
            ("--token", self.connection.token.is_some()),
            ("--ca-file", self.connection.ca_file.is_some()),
            ("--output", self.output.is_some()),
            ("--quiet", self.connection.quiet),
            ("--verbose", self.connection.verbose),
        ];
        given.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name)
    }
}

/// The same options of a noun, which its verbs take too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Options);

impl Shared {
    /// These options, and where they say nothing those that were given earlier on the line.
    pub(crate) fn over(&self, earlier: &Options) -> Wanted {
        self.0.connection.over(earlier, self.0.output)
    }
}

impl FromArgMatches for Shared {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Options::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for Shared {
    fn augment_args(command: Command) -> Command {
        global(Options::augment_args(command)).mut_arg(OUTPUT, |argument| argument.global(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The same for a noun whose verbs have formats of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedConnection(Connection);

impl SharedConnection {
    pub(crate) fn over(&self, earlier: &Options, output: Option<Format>) -> Wanted {
        self.0.over(earlier, output)
    }
}

impl FromArgMatches for SharedConnection {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Connection::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for SharedConnection {
    fn augment_args(command: Command) -> Command {
        global(Connection::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn global(command: Command) -> Command {
    IDS.iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.global(true)))
}
