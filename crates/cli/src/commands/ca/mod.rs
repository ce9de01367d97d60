//! `stoker ca`: the internal certificate authority. Sends no requests to a server.

mod init;
mod server;
mod show;

use clap::Subcommand;
use stoker_diagnostics::Diagnostic;

use stoker_model::ErrorChain;

use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;

/// Manage the certificate authority for servers and agents
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Init(init::Args),
    Server(server::Args),
    Show(show::Args),
    // end sorted
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let result = match &args.verb {
        Verb::Init(args) => init::run(args, printer),
        Verb::Server(args) => server::run(args, printer),
        Verb::Show(args) => return show::run(args, printer),
    };
    result.map_err(|error| failure(&error))
}

fn failure(error: &stoker_tls::TlsError) -> Failure {
    use stoker_tls::TlsError;
    let exit = match error {
        TlsError::File { what: "read", .. }
        | TlsError::NoAuthority { .. }
        | TlsError::NotPrivate { .. }
        | TlsError::InvalidFile { .. } => Exit::Input,
        TlsError::File { .. } => Exit::Output,
        _ => Exit::Failed,
    };
    Failure::new(exit, Diagnostic::plain(ErrorChain(&error).to_string()))
}
