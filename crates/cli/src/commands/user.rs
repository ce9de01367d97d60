//! `stoker user` and `stoker token`: who may do what.

use clap::Subcommand;
use serde_json::json;
use stoker_client::{Method, Request};

use crate::exit::{Failure, Outcome};
use crate::input::user_role;
use crate::printer::Printer;
use crate::remote::{Columns, Format, Options, Remote, Shared, cell};
use crate::terminal;

/// Users, and what they may do
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Create(CreateArgs),
    Delete(DeleteArgs),
    List(ListArgs),
    Password(PasswordArgs),
    Show(ShowArgs),
    Update(UpdateArgs),
    // end sorted
}

/// Make a user; the password is asked for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Roles are admin, operator, viewer and member. Without a terminal the password is the first line of standard input.

Examples:
  stoker user create ada --role operator
  pass show ada | stoker user create ada --role member --tenant blue")]
struct CreateArgs {
    /// What the user is called
    #[arg(value_name = "NAME")]
    name: String,

    /// What the user may do
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', required = true, value_parser = user_role)]
    roles: Vec<String>,

    /// Whose things the user sees
    #[arg(long, value_name = "NAME", default_value = "admin")]
    tenant: String,
}

/// Change a user
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user update 2 --role viewer
  stoker user update 2 --disable
  stoker user update 2 --password")]
struct UpdateArgs {
    /// Id or name of the user
    #[arg(value_name = "USER")]
    user: String,

    /// What the user may do from now on
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = user_role)]
    roles: Vec<String>,

    /// Give a new password, which is asked for
    #[arg(long)]
    password: bool,

    /// Let the user in again
    #[arg(long, conflicts_with = "disable")]
    enable: bool,

    /// Do not let the user in any more
    #[arg(long)]
    disable: bool,
}

/// List users
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user list")]
struct ListArgs {}

/// Show a user
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user show 2
  stoker user show ada")]
struct ShowArgs {
    /// Id or name of the user
    #[arg(value_name = "USER")]
    user: String,
}

/// Delete a user
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user delete 2")]
struct DeleteArgs {
    /// Id or name of the user
    #[arg(value_name = "USER")]
    user: String,
}

/// Change your own password; the old one and the new one are asked for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user password")]
struct PasswordArgs {}

const COLUMNS: Columns<'static> = &[
    ("id", "id"),
    ("name", "name"),
    ("tenant", "tenant"),
    ("roles", "roles"),
    ("enabled", "enabled"),
    ("made", "created_at"),
];

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    let remote = &mut remote;
    match &args.verb {
        Verb::Create(args) => {
            let password = terminal::secret(&format!("Password of {}:", args.name))?;
            let body = json!({
                "name": args.name, "password": password, "tenant": args.tenant, "roles": args.roles,
            });
            let user = remote.send_json(Method::Post, "users", &body)?;
            remote.made("made user", &user)
        }
        Verb::Delete(args) => {
            let id = find(remote, &args.user)?;
            remote.delete(format!("users/{id}"))?;
            remote.note(&format!("deleted user {}", args.user));
            Ok(())
        }
        Verb::List(_) => {
            let users = remote.get_list(&Request::get("users"))?;
            remote.list(COLUMNS, users)
        }
        Verb::Password(_) => {
            let old = terminal::secret("Old password:")?;
            let new = terminal::secret("New password:")?;
            let body = json!({"old_password": old, "password": new});
            remote.send_json(Method::Put, "users/me/password", &body)?;
            remote.note("changed the password; log in again with `stoker login`");
            Ok(())
        }
        Verb::Show(args) => {
            let id = find(remote, &args.user)?;
            let user = remote.get(format!("users/{id}"))?;
            remote.details(COLUMNS, &user)
        }
        Verb::Update(args) => update(args, remote),
    }
}

/// The id of a user that is named by it, or by a name.
fn find(remote: &mut Remote<'_>, wanted: &str) -> Outcome<i64> {
    if let Ok(id) = wanted.parse() {
        return Ok(id);
    }
    let users = remote.get_list(&Request::get("users"))?;
    let found = users.iter().find(|user| user["name"] == *wanted).and_then(|user| user["id"].as_i64());
    found.ok_or_else(|| {
        let mut failure = Failure::failed(format!("there is no user `{wanted}`"));
        failure.diagnostics[0].help = Some("`stoker user list` tells which there are".to_owned());
        failure
    })
}

fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({});
    if !args.roles.is_empty() {
        body["roles"] = json!(args.roles);
    }
    if args.enable || args.disable {
        body["enabled"] = json!(args.enable);
    }
    if args.password {
        body["password"] = json!(terminal::secret("New password:")?);
    }
    if body == json!({}) {
        return Err(Failure::usage("nothing is to be changed", "add `--role`, `--password` or `--disable`"));
    }
    let id = find(remote, &args.user)?;
    let user = remote.send_json(Method::Put, format!("users/{id}"), &body)?;
    remote.made("changed user", &user)
}

/// Tokens for scripts
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    verb: TokenVerb,

    #[command(flatten)]
    options: Shared,
}

#[derive(Debug, Subcommand)]
enum TokenVerb {
    // sorted
    Create(TokenCreateArgs),
    Delete(TokenDeleteArgs),
    List(TokenListArgs),
    // end sorted
}

/// Make a token; what it is can be read only now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Standard output has the token and nothing else.

Examples:
  STOKER_TOKEN=$(stoker token create 'nightly job' --days 30)")]
struct TokenCreateArgs {
    /// What it is for
    #[arg(value_name = "LABEL")]
    label: String,

    /// How long it lives
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
}

/// List your tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tokens of logins have no label.

Examples:
  stoker token list
  stoker token list --user 2")]
struct TokenListArgs {
    /// Of this user, for admins
    #[arg(long, value_name = "ID")]
    user: Option<i64>,
}

/// Revoke tokens; from now on they open nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker token delete 7")]
struct TokenDeleteArgs {
    /// Ids of the tokens
    #[arg(value_name = "TOKEN", required = true)]
    tokens: Vec<i64>,
}

pub(crate) fn token(args: &TokenArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    match &args.verb {
        TokenVerb::Create(args) => {
            let body = json!({"label": args.label, "expires_in": args.days * 86_400});
            let made = remote.send_json(Method::Post, "tokens", &body)?;
            if remote.format() != Format::Table {
                return remote.data(&made);
            }
            remote.note(&format!("token {} lives until {}", cell(&made["id"]), cell(&made["expires_at"])));
            Ok(remote.printer.data(&cell(&made["token"]))?)
        }
        TokenVerb::Delete(args) => {
            for id in &args.tokens {
                remote.delete(format!("tokens/{id}"))?;
                remote.note(&format!("revoked token {id}"));
            }
            Ok(())
        }
        TokenVerb::List(args) => {
            let tokens = remote.get_list(&Request::get("tokens").maybe("user_id", args.user))?;
            remote.list(
                &[("id", "id"), ("label", "label"), ("made", "issued_at"), ("lives until", "expires_at")],
                tokens,
            )
        }
    }
}
