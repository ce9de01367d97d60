//! Commands: one directory per noun, one file per verb.

mod agent;
mod apply;
mod backup;
mod ca;
mod completions;
mod config;
mod demo;
mod doctor;
pub(crate) mod drift;
mod env;
mod facts;
mod graph;
mod history;
mod join_token;
mod login;
mod man;
mod module;
mod nats;
mod node;
mod notification;
mod openapi;
mod plan;
mod plugin;
mod registry;
mod release;
pub(crate) mod role_tag;
mod run;
mod schema;
mod sequence;
mod serve;
pub(crate) mod settings;
mod task_types;
mod user;
mod webhook;
mod wizard;
mod yaql;

use clap::Subcommand;

use crate::exit::{Failure, Outcome};
use crate::printer::Printer;
use crate::programs::Programs;
use crate::remote::Options;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // sorted
    Agent(agent::Args),
    Apply(apply::Args),
    Backup(backup::BackupArgs),
    Ca(ca::Args),
    #[command(visible_alias = "completion")]
    Completions(completions::Args),
    Config(config::Args),
    Demo(demo::Args),
    Doctor(doctor::Args),
    Drift(drift::Args),
    #[command(visible_alias = "cluster")]
    Env(env::Args),
    Facts(facts::Args),
    Graph(graph::Args),
    History(history::Args),
    JoinToken(join_token::Args),
    Login(login::LoginArgs),
    Logout(login::LogoutArgs),
    Man(man::Args),
    Module(module::Args),
    Nats(nats::Args),
    Node(node::Args),
    Notification(notification::Args),
    Openapi(openapi::Args),
    Plan(Box<plan::Args>),
    Plugin(plugin::Args),
    Registry(registry::Args),
    Release(release::Args),
    Restore(backup::RestoreArgs),
    Role(role_tag::RoleArgs),
    Run(run::Args),
    Schema(schema::Args),
    Sequence(sequence::Args),
    Serve(Box<serve::Args>),
    Settings(settings::Args),
    Tag(role_tag::TagArgs),
    TaskTypes(task_types::Args),
    Token(user::TokenArgs),
    User(user::Args),
    Webhook(webhook::Args),
    Whoami(login::WhoamiArgs),
    Wizard(wizard::Args),
    Yaql(yaql::Args),
    // end sorted
}

impl Command {
    /// Reports whether the command sends no request to a server.
    fn is_offline(&self) -> bool {
        matches!(
            self,
            Self::Agent(_)
                | Self::Backup(_)
                | Self::Ca(_)
                | Self::Completions(_)
                | Self::Demo(_)
                | Self::Man(_)
                | Self::Nats(_)
                | Self::Openapi(_)
                | Self::Registry(_)
                | Self::Restore(_)
                | Self::Schema(_)
                | Self::Serve(_)
                | Self::TaskTypes(_)
                | Self::Yaql(_)
        )
    }
}

/// Runs a command. `earlier` are the options that were passed before it; `grammar` is the tree of all commands, for those
/// that render it.
pub(crate) fn run(
    command: Command,
    earlier: &Options,
    grammar: fn() -> clap::Command,
    programs: &Programs,
    printer: &mut Printer,
) -> Outcome {
    if let Some(name) = earlier.first_set().filter(|_| command.is_offline()) {
        let help = "pass it after the command if the command supports it; see `--help`";
        return Err(Failure::usage(format!("`{name}` is not a global option of this command"), help));
    }
    match command {
        Command::Agent(args) => agent::run(args, programs, printer),
        Command::Apply(args) => apply::run(&args, earlier, printer),
        Command::Backup(args) => backup::backup(args, printer),
        Command::Ca(args) => ca::run(&args, printer),
        Command::Completions(args) => completions::run(&args, grammar(), printer),
        Command::Config(args) => config::run(&args, earlier, grammar(), printer),
        Command::Demo(args) => demo::run(&args, printer),
        Command::Doctor(args) => doctor::run(args, earlier, printer),
        Command::Drift(args) => drift::run(&args, earlier, printer),
        Command::Env(args) => env::run(&args, earlier, printer),
        Command::Facts(args) => facts::run(&args, earlier, printer),
        Command::Graph(args) => graph::run(&args, earlier, printer),
        Command::History(args) => history::run(&args, earlier, printer),
        Command::JoinToken(args) => join_token::run(&args, earlier, printer),
        Command::Login(args) => login::login(&args, earlier, printer),
        Command::Logout(args) => login::logout(&args, earlier, printer),
        Command::Man(args) => man::run(&args, grammar(), printer),
        Command::Module(args) => module::run(args, earlier, programs, printer),
        Command::Nats(args) => nats::run(&args, printer),
        Command::Node(args) => node::run(&args, earlier, printer),
        Command::Notification(args) => notification::run(&args, earlier, printer),
        Command::Openapi(_) => openapi::run(programs, printer),
        Command::Plan(args) => plan::run(&args, earlier, printer),
        Command::Plugin(args) => plugin::run(&args, earlier, printer),
        Command::Registry(args) => registry::run(&args, printer),
        Command::Release(args) => release::run(&args, earlier, printer),
        Command::Restore(args) => backup::restore(args, printer),
        Command::Role(args) => role_tag::role(&args, earlier, printer),
        Command::Run(args) => run::run(&args, earlier, printer),
        Command::Schema(args) => schema::run(&args, printer),
        Command::Sequence(args) => sequence::run(&args, earlier, printer),
        Command::Serve(args) => serve::run(*args, programs, printer),
        Command::Settings(args) => settings::run(&args, earlier, printer),
        Command::Tag(args) => role_tag::tag(&args, earlier, printer),
        Command::TaskTypes(_) => task_types::run(printer),
        Command::Token(args) => user::token(&args, earlier, printer),
        Command::User(args) => user::run(&args, earlier, printer),
        Command::Webhook(args) => webhook::run(&args, earlier, printer),
        Command::Whoami(args) => login::whoami(&args, earlier, printer),
        Command::Wizard(args) => wizard::run(&args, earlier, printer),
        Command::Yaql(args) => yaql::run(args, printer),
    }
}
