//! `stoker login`, `logout` and `whoami`: who the server takes us for.

use serde_json::json;
use stoker_client::Token;

use crate::environment;
use crate::exit::Outcome;
use crate::printer::Printer;
use crate::remote::{Options, Remote, Shared, Stored, Target, failure, log_in, user_or_default};
use crate::terminal;

/// Log in once; later commands use the login
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The password is asked for, or taken from STOKER_PASSWORD, or read as a line from standard input where that is no
terminal. The token that the server gives is kept in ~/.config/stoker/credentials.json, which only you may read;
it ends after some hours. The server of the last login is the one that commands talk to.

Examples:
  stoker login --server https://stoker.example:8000 --user ada
  stoker login --server https://stoker.example:8000 --ca-file ca.pem
  STOKER_PASSWORD=… stoker login
  pass show stoker | stoker login --user ada")]
pub(crate) struct LoginArgs {
    /// Who you are; else `STOKER_USER`, `admin`
    #[arg(long, short, value_name = "NAME")]
    user: Option<String>,

    /// The password; others can see it in the list of processes
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,

    /// For which tenant; that of the user if not given
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,

    #[command(flatten)]
    options: Shared,
}

/// End the login
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The server ends the token, and it is removed from this machine. Where the server does not answer it is removed only
here and ends by itself some hours after the login.

Examples:
  stoker logout
  stoker logout --server https://stoker.example:8000")]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    options: Shared,
}

/// Show who you are for the server, and what you may do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker whoami
  stoker whoami --output json")]
pub(crate) struct WhoamiArgs {
    #[command(flatten)]
    options: Shared,
}

pub(crate) fn login(args: &LoginArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let wanted = args.options.over(earlier);
    let mut target = Target::of(&wanted)?;
    let client = target.client()?;
    let user = user_or_default(args.user.as_deref());
    if !target.address.is_secure() && !target.address.is_local() {
        printer.note(&format!(
            "warning: nothing on the way to {} is encrypted, also no password",
            target.address
        ));
    }
    let password = match args.password.clone().or_else(environment::password) {
        Some(password) => password,
        None => terminal::secret(&format!("Password of {user} at {}:", target.address))?,
    };
    let login = log_in(&client, &user, &password, args.tenant.as_deref())?;
    let stored = Stored {
        user: user.clone(),
        token: login.token.reveal().to_owned(),
        expires: login.expires.clone(),
        // Commands of other folders find it too.
        ca_file: target
            .ca_file
            .as_ref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())),
    };
    target.credentials.set(target.address.as_str(), &stored);
    target.credentials.write()?;
    if !wanted.is_quiet {
        printer.note(&format!("logged in to {} as {user} until {}", target.address, login.expires));
    }
    Ok(())
}

pub(crate) fn logout(args: &LogoutArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let wanted = args.options.over(earlier);
    let mut target = Target::of(&wanted)?;
    if !target.credentials.forget(target.address.as_str()) {
        printer.note(&format!("there is no login for {}", target.address));
        return Ok(());
    }
    target.credentials.write()?;
    let token = target.stored.as_ref().map(|login| Token::new(login.token.clone()));
    let ended =
        token.map_or(Ok(()), |token| target.client()?.log_out(&token).map_err(|error| failure(error, None)));
    match ended {
        Ok(()) if wanted.is_quiet => {}
        Ok(()) => printer.note(&format!("logged out of {}", target.address)),
        // Nothing is left to try again with, and the token is of no use to anybody here.
        Err(failure) => {
            let why = failure.diagnostics.first().map_or("", |diagnostic| diagnostic.message.as_str());
            printer.note(&format!(
                "warning: logged out here; the server could not end the token, which ends by itself: {why}"
            ));
        }
    }
    Ok(())
}

pub(crate) fn whoami(args: &WhoamiArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    let mut me = remote.get("users/me")?;
    me["server"] = json!(remote.client().address().as_str());
    remote.details(
        &[("name", "name"), ("id", "id"), ("tenant", "tenant"), ("roles", "roles"), ("server", "server")],
        &me,
    )
}
