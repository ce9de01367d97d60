//! Options shared by all commands that talk to a server.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Yaml,
}

/// Server, credentials and verbosity.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Connection {
    /// Server URL [default: `STOKER_SERVER`, then the last login, then `http://127.0.0.1:8000`]
    #[arg(long, value_name = "URL", help_heading = HELP_HEADING)]
    server: Option<String>,

    /// API token [default: `STOKER_TOKEN`, then the last login]
    #[arg(long, value_name = "TOKEN", help_heading = HELP_HEADING)]
    token: Option<String>,

    /// PEM file with CA certificates to trust in addition to the system's [default: `STOKER_CA_FILE`]
    #[arg(long, value_name = "FILE", help_heading = HELP_HEADING)]
    ca_file: Option<PathBuf>,

    /// Print only the result, without progress or notes; for resources, only their IDs
    #[arg(long, short, help_heading = HELP_HEADING)]
    quiet: bool,

    /// Log each HTTP request to standard error, and print long values in full
    #[arg(long, short, help_heading = HELP_HEADING)]
    verbose: bool,
}

/// Server, credentials, verbosity and output format.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    connection: Connection,

    /// Output format: `table`, `json` or `yaml` [default: table]
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true, help_heading = HELP_HEADING)]
    output: Option<Format>,
}

const HELP_HEADING: &str = "Server and output options";
const IDS: [&str; 5] = ["server", "token", "ca_file", "quiet", "verbose"];
const OUTPUT: &str = "output";

/// Options merged from before and after the noun.
#[derive(Debug, Default)]
pub(crate) struct ResolvedOptions {
    pub(crate) server: Option<String>,
    pub(crate) token: Option<String>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) format: Option<Format>,
    pub(crate) is_quiet: bool,
    pub(super) is_verbose: bool,
}

impl ResolvedOptions {
    pub(crate) fn format(&self) -> Format {
        self.format.unwrap_or_default()
    }
}

impl Connection {
    fn merge(&self, earlier: &Options, output: Option<Format>) -> ResolvedOptions {
        let base = &earlier.connection;
        ResolvedOptions {
            server: self.server.clone().or_else(|| base.server.clone()),
            token: self.token.clone().or_else(|| base.token.clone()),
            ca_file: self.ca_file.clone().or_else(|| base.ca_file.clone()),
            format: output.or(earlier.output),
            is_quiet: self.quiet || base.quiet,
            is_verbose: self.verbose || base.verbose,
        }
    }
}

impl Options {
    /// Returns the name of the first option that was passed.
    pub(crate) fn first_set(&self) -> Option<&'static str> {
        let options = [
            ("--server", self.connection.server.is_some()),
            ("--token", self.connection.token.is_some()),
            ("--ca-file", self.connection.ca_file.is_some()),
            ("--output", self.output.is_some()),
            ("--quiet", self.connection.quiet),
            ("--verbose", self.connection.verbose),
        ];
        options.iter().find(|(_, is_set)| *is_set).map(|(name, _)| *name)
    }
}

/// Options of a noun, accepted by all of its verbs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedOptions(Options);

impl SharedOptions {
    /// Merges these options over those passed earlier on the command line.
    pub(crate) fn merge(&self, earlier: &Options) -> ResolvedOptions {
        self.0.connection.merge(earlier, self.0.output)
    }
}

impl FromArgMatches for SharedOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Options::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for SharedOptions {
    fn augment_args(command: Command) -> Command {
        global(Options::augment_args(command)).mut_arg(OUTPUT, |argument| argument.global(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Like [`SharedOptions`], for nouns whose verbs define their own output formats.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedConnection(Connection);

impl SharedConnection {
    pub(crate) fn merge(&self, earlier: &Options, output: Option<Format>) -> ResolvedOptions {
        self.0.merge(earlier, output)
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
