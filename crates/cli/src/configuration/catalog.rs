//! Options of `stoker serve` and `stoker agent`, derived from their clap arguments.

use std::any::TypeId;

use clap::{Arg, ArgAction, Command, ValueEnum};

use super::redact::Redaction;
use crate::environment::{ADMIN_PASSWORD, DATABASE_URL, JOIN_TOKEN, LOG, NATS_URL, SERVER};

/// A command that reads a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    Serve,
    Agent,
}

impl Program {
    pub(crate) const ALL: [Self; 2] = [Self::Serve, Self::Agent];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::Agent => "agent",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name() == name)
    }
}

/// ID of the argument that names the configuration file.
pub(super) const CONFIG: &str = "config";

/// Key of the only option without a flag, which would show the password in the process list.
pub(super) const ADMIN_PASSWORD_KEY: &str = "admin_password";

/// Declares the options of a program that are not flags.
fn options_without_flag(program: Program) -> Vec<Arg> {
    let help = "Initial password of the user `admin`, for the first start (default: a random password, printed once)";
    let admin_password =
        || Arg::new(ADMIN_PASSWORD_KEY).long("admin-password").value_name("PASSWORD").help(help);
    if program == Program::Serve { vec![admin_password()] } else { Vec::new() }
}

/// Environment variables by program and key.
const VARIABLES: &[(Program, &str, &str)] = &[
    (Program::Serve, ADMIN_PASSWORD_KEY, ADMIN_PASSWORD),
    (Program::Serve, "database_url", DATABASE_URL),
    (Program::Serve, "log", LOG),
    (Program::Serve, "nats", NATS_URL),
    (Program::Agent, "join_token", JOIN_TOKEN),
    (Program::Agent, "log", LOG),
    (Program::Agent, "server", SERVER),
];

/// Options whose values are secret or may contain a secret.
const SECRETS: &[(&str, Redaction)] = &[
    (ADMIN_PASSWORD_KEY, Redaction::Whole),
    ("database_url", Redaction::Credentials),
    ("join_token", Redaction::Whole),
    ("nats", Redaction::Credentials),
];

/// Units by value name.
const UNITS: &[(&str, &str)] = &[("BYTES", "bytes"), ("DAYS", "days"), ("SECONDS", "seconds")];

/// TOML type of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
    Boolean,
    Integer,
    Text,
    List,
    /// Named values; the flag is repeated with `NAME=VALUE`.
    Table,
}

impl ValueType {
    fn of(argument: &Arg, value_name: &str) -> Self {
        let integers = [TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<i64>(), TypeId::of::<usize>()];
        match argument.get_action() {
            ArgAction::SetTrue => Self::Boolean,
            _ if value_name == "NAME=PATH" => Self::Table,
            ArgAction::Append => Self::List,
            _ if integers.iter().any(|integer| argument.get_value_parser().type_id() == *integer) => {
                Self::Integer
            }
            _ => Self::Text,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Text => "string",
            Self::List => "array of strings",
            Self::Table => "table of strings",
        }
    }
}

/// An option of `stoker serve` or `stoker agent`.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// ID of the clap argument.
    pub(super) id: String,
    /// Key in the configuration file: the long flag with underscores.
    pub(crate) key: String,
    /// Long flag without dashes.
    pub(super) long: String,
    /// Whether the option can be passed on the command line.
    pub(super) has_flag: bool,
    pub(super) variable: Option<&'static str>,
    pub(super) value_type: ValueType,
    /// Placeholder of the value in help texts; empty for booleans.
    pub(super) value_name: String,
    pub(crate) unit: Option<&'static str>,
    pub(super) default: Option<String>,
    /// Description of a default that is computed at startup.
    pub(crate) computed_default: Option<String>,
    pub(super) help: String,
    pub(super) redaction: Option<Redaction>,
}

impl Setting {
    fn of(program: Program, argument: &Arg) -> Option<Self> {
        let long = argument.get_long()?.to_owned();
        let id = argument.get_id().to_string();
        if [CONFIG, "color", "help", "version"].contains(&id.as_str()) {
            return None;
        }
        let key = long.replace('-', "_");
        let takes_value = argument.get_action().takes_values();
        let value_name = argument.get_value_names().filter(|_| takes_value).and_then(<[_]>::first);
        let value_name = value_name.map(ToString::to_string).unwrap_or_default();
        let (help, computed_default) =
            split_default(&argument.get_help().map(ToString::to_string).unwrap_or_default());
        let default = argument.get_default_values().first().filter(|_| takes_value);
        let variable = VARIABLES.iter().find(|(of, name, _)| *of == program && *name == key);
        Some(Self {
            id,
            has_flag: true,
            variable: variable.map(|(_, _, variable)| *variable),
            value_type: ValueType::of(argument, &value_name),
            unit: UNITS.iter().find(|(name, _)| *name == value_name).map(|(_, unit)| *unit),
            value_name,
            default: default.map(|value| value.to_string_lossy().into_owned()),
            computed_default,
            help,
            redaction: SECRETS.iter().find(|(name, _)| *name == key).map(|(_, redaction)| *redaction),
            key,
            long,
        })
    }
}

/// Splits `Help [default: text]` and `Help (default: text)`.
fn split_default(help: &str) -> (String, Option<String>) {
    for (open, close) in [(" [default: ", ']'), (" (default: ", ')')] {
        if let Some((text, default)) = help.split_once(open)
            && let Some(default) = default.strip_suffix(close)
        {
            return (text.to_owned(), Some(default.to_owned()));
        }
    }
    (help.to_owned(), None)
}

/// All options of a program, in the order of its help.
pub(crate) struct Catalog {
    pub(crate) program: Program,
    pub(crate) settings: Vec<Setting>,
    command: Command,
    /// Clap command of the whole program.
    root: Command,
}

impl Catalog {
    /// Creates the catalog of a program. `root` is the clap command of the whole program.
    pub(crate) fn of(program: Program, root: Command) -> Self {
        let command = root.find_subcommand(program.name()).cloned().unwrap_or_default();
        let flags = command.get_arguments().filter_map(|argument| Setting::of(program, argument));
        let others = options_without_flag(program);
        let others = others.iter().filter_map(|argument| Setting::of(program, argument));
        let settings = flags.chain(others.map(|setting| Setting { has_flag: false, ..setting })).collect();
        Self { program, settings, command, root }
    }

    /// Returns the clap command of the program without the options of the root command.
    pub(super) fn command(&self) -> &Command {
        &self.command
    }

    /// Reports whether the other program has an option with this key.
    pub(super) fn is_key_of(&self, program: Program, key: &str) -> bool {
        let command = self.root.find_subcommand(program.name());
        let mut arguments = command.into_iter().flat_map(Command::get_arguments);
        arguments.any(|argument| Setting::of(program, argument).is_some_and(|setting| setting.key == key))
    }

    /// Reports whether clap rejects two options together.
    pub(super) fn conflict(&self, one: &Setting, other: &Setting) -> bool {
        let declares = |one: &Setting, other: &Setting| {
            let argument = self.command.get_arguments().find(|argument| *argument.get_id() == one.id);
            argument.is_some_and(|argument| {
                let conflicts = self.command.get_arg_conflicts_with(argument);
                conflicts.iter().any(|argument| *argument.get_id() == other.id)
            })
        };
        declares(one, other) || declares(other, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;
    use crate::environment::SECRET_VARIABLES;

    fn setting(program: Program, key: &str) -> Setting {
        let catalog = Catalog::of(program, args::command());
        catalog.settings.into_iter().find(|setting| setting.key == key).unwrap()
    }

    #[test]
    fn every_argument_of_both_programs_is_a_setting() {
        for program in Program::ALL {
            let catalog = Catalog::of(program, args::command());
            let ids = catalog.command().get_arguments().map(|argument| argument.get_id().as_str());
            let mut ids: Vec<&str> = ids.filter(|id| *id != CONFIG).collect();
            let flags = catalog.settings.iter().filter(|setting| setting.has_flag);
            let mut known: Vec<&str> = flags.map(|setting| setting.id.as_str()).collect();
            ids.sort_unstable();
            known.sort_unstable();
            assert_eq!(ids, known);
            assert!(catalog.settings.len() > 10);
            assert!(catalog.settings.iter().all(|setting| !setting.help.is_empty()));
        }
    }

    #[test]
    fn variables_and_secrets_refer_to_existing_settings() {
        for (program, key, variable) in VARIABLES {
            assert_eq!(setting(*program, key).variable, Some(*variable));
        }
        for (key, _) in SECRETS {
            let mut all =
                Program::ALL.into_iter().flat_map(|program| Catalog::of(program, args::command()).settings);
            assert!(all.any(|setting| setting.key == *key), "{key}");
        }
    }

    /// A variable that is removed from the environment of tasks holds a secret, which must be redacted.
    #[test]
    fn secret_variables_are_redacted() {
        for (program, key, variable) in VARIABLES {
            let is_secret = SECRET_VARIABLES.contains(variable);
            assert_eq!(setting(*program, key).redaction.is_some(), is_secret, "{key}");
        }
    }

    #[test]
    fn types_units_and_defaults_come_from_clap() {
        let lease = setting(Program::Serve, "lease");
        assert_eq!((lease.value_type, lease.unit), (ValueType::Integer, Some("seconds")));
        assert_eq!(lease.default.as_deref(), Some("8"));
        assert_eq!(setting(Program::Serve, "hook").value_type, ValueType::Table);
        assert_eq!(setting(Program::Serve, "module_types").value_type, ValueType::List);
        assert_eq!(setting(Program::Serve, "max_body").value_type, ValueType::Integer);
        assert_eq!(setting(Program::Serve, "local_agents").value_type, ValueType::Boolean);
        let name = setting(Program::Serve, "name");
        assert_eq!(name.computed_default.as_deref(), Some("the host name"));
        assert!(!name.help.contains("default"));
        assert!(!setting(Program::Serve, "admin_password").has_flag);
    }
}
