//! `stoker login`, `logout` and `whoami`.

use serde_json::json;
use stoker_client::ApiToken;

use crate::environment;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, SharedOptions, StoredLogin, Target, failure, log_in, user_or_default};
use crate::terminal;

/// Log in to a server and store the credentials
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The password is read from STOKER_PASSWORD, from the terminal, or from the first line of standard input. The token that the
server returns is stored in ~/.config/stoker/credentials.json, readable by you only; it expires after some hours.
Later commands use the server of the last login.

Examples:
  stoker login --server https://stoker.example:8000 --user ada
  stoker login --server https://stoker.example:8000 --ca-file ca.pem
  STOKER_PASSWORD=… stoker login
  pass show stoker | stoker login --user ada")]
pub(crate) struct LoginArgs {
    /// User name (default: `STOKER_USER` or `admin`)
    #[arg(long, short, value_name = "NAME")]
    user: Option<String>,

    /// Password; visible to other users in the process list
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,

    /// Tenant (default: the tenant of the user)
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    #[command(flatten)]
    options: SharedOptions,
}

/// Log out and revoke the token
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The server revokes the token, and it is deleted from this machine. If the server is unreachable, the token is only
deleted locally and stays valid until it expires.

Examples:
  stoker logout
  stoker logout --server https://stoker.example:8000")]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    options: SharedOptions,
}

/// Show the current user and their roles
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker whoami
  stoker whoami --output json")]
pub(crate) struct WhoamiArgs {
    #[command(flatten)]
    options: SharedOptions,
}

pub(crate) fn login(args: &LoginArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let options = args.options.merge(earlier);
    let mut target = Target::of(&options)?;
    let client = target.client()?;
    let user = user_or_default(args.user.as_deref());
    if !target.address.is_secure() && !target.address.is_local() {
        printer.note(&format!(
            "warning: the connection to {} is not encrypted; the password is sent in plain text",
            target.address
        ));
    }
    let password = match args.password.clone().or_else(environment::password) {
        Some(password) => password,
        None => terminal::ask_secret(&format!("Password of {user} at {}:", target.address))?,
    };
    let login = log_in(&client, &user, &password, args.tenant.as_deref())?;
    let stored = StoredLogin {
        user: user.clone(),
        token: login.token.reveal().to_owned(),
        expires: login.expires.clone(),
        // Make the path absolute, so that it works from any folder.
        ca_file: target
            .ca_file
            .as_ref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())),
    };
    target.credentials.set(target.address.as_str(), &stored);
    target.credentials.write()?;
    if !options.is_quiet {
        printer.note(&format!("logged in to {} as {user} until {}", target.address, login.expires));
    }
    Ok(())
}

pub(crate) fn logout(args: &LogoutArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let options = args.options.merge(earlier);
    let mut target = Target::of(&options)?;
    if !target.credentials.remove(target.address.as_str()) {
        printer.note(&format!("not logged in to {}", target.address));
        return Ok(());
    }
    target.credentials.write()?;
    let token = target.stored.as_ref().map(|login| ApiToken::new(login.token.clone()));
    let revoked =
        token.map_or(Ok(()), |token| target.client()?.log_out(&token).map_err(|error| failure(error, None)));
    match revoked {
        Ok(()) if options.is_quiet => {}
        Ok(()) => printer.note(&format!("logged out of {}", target.address)),
        // The token is deleted already, so a failed revocation cannot be retried.
        Err(failure) => {
            let reason = failure.diagnostics.first().map_or("", |diagnostic| diagnostic.message.as_str());
            printer.note(&format!(
                "warning: deleted the login, but could not revoke the token; it stays valid until it expires: {reason}"
            ));
        }
    }
    Ok(())
}

pub(crate) fn whoami(args: &WhoamiArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let mut me = remote.get("users/me")?;
    me["server"] = json!(remote.client().address().as_str());
    remote.details(
        &[("name", "name"), ("id", "id"), ("tenant", "tenant"), ("roles", "roles"), ("server", "server")],
        &me,
    )
}
