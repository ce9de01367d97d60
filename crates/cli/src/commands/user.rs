//! `stoker user` and `stoker token`: users and their API tokens.

use clap::Subcommand;
use serde_json::json;
use stoker_api_types::tokens::TokenView;
use stoker_api_types::users::UserView;
use stoker_client::{Method, RestRequest};

use crate::exit::{Failure, Outcome};
use crate::input::user_role;
use crate::printer::Printer;
use crate::remote::{Columns, Format, Options, Remote, SharedOptions, display, set, typed};
use crate::terminal;

/// Manage users and their roles
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
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

/// Create a user; prompts for the password
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An `admin` may do everything; an `operator` manages releases, clusters, nodes, plugins and runs; a `planner` reads and
creates plans, but does not apply them; a `viewer` only reads; a `member` reads and manages the modules of its tenant.
Without a terminal, the password is the first line of standard input.

Examples:
  stoker user create ada --role operator
  pass show ada | stoker user create ada --role member --tenant blue")]
struct CreateArgs {
    /// User name
    #[arg(value_name = "NAME")]
    name: String,

    /// User role: `admin`, `operator`, `planner`, `viewer` or `member`; can be repeated or comma-separated
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', required = true, value_parser = user_role)]
    roles: Vec<String>,

    /// Tenant that the user belongs to
    #[arg(long, value_name = "NAME", default_value = "admin")]
    tenant: String,
}

/// Update a user; omitted fields keep their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user update 2 --role viewer
  stoker user update 2 --disable
  stoker user update 2 --password")]
struct UpdateArgs {
    /// User ID or name
    #[arg(value_name = "USER")]
    user: String,

    /// New user role; replaces existing roles; can be repeated or comma-separated
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = user_role)]
    roles: Vec<String>,

    /// Set a new password; prompts for the password
    #[arg(long)]
    password: bool,

    /// Allow the user to log in
    #[arg(long, conflicts_with = "disable")]
    enable: bool,

    /// Forbid the user to log in
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
    /// User ID or name
    #[arg(value_name = "USER")]
    user: String,
}

/// Delete a user
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker user delete 2")]
struct DeleteArgs {
    /// User ID or name
    #[arg(value_name = "USER")]
    user: String,
}

/// Change your password; prompts for the old and the new password
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
    ("created", "created_at"),
];

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    let remote = &mut remote;
    match &args.verb {
        Verb::Create(args) => {
            let password = terminal::ask_secret(&format!("Password of {}:", args.name))?;
            let body = json!({
                "name": args.name, "password": password, "tenant": args.tenant, "roles": args.roles,
            });
            let user = remote.send_json(Method::Post, "users", &body)?;
            remote.report_change("created user", &user)
        }
        Verb::Delete(args) => {
            let id = find(remote, &args.user)?;
            remote.delete(format!("users/{id}"))?;
            remote.note(&format!("deleted user {}", args.user));
            Ok(())
        }
        Verb::List(_) => {
            let users = remote.get_list(&RestRequest::get("users"))?;
            remote.list(COLUMNS, users)
        }
        Verb::Password(_) => {
            let old = terminal::ask_secret("Old password:")?;
            let new = terminal::ask_secret("New password:")?;
            let body = json!({"old_password": old, "password": new});
            remote.send_json(Method::Put, "users/me/password", &body)?;
            remote.note("changed the password; run `stoker login` to log in again");
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

/// Returns the ID of a user.
fn find(remote: &mut Remote<'_>, id_or_name: &str) -> Outcome<i64> {
    if let Ok(id) = id_or_name.parse() {
        return Ok(id);
    }
    let users: Vec<UserView> = remote.read_list(&RestRequest::get("users"))?;
    let id = users.iter().find(|user| user.name == *id_or_name).map(|user| user.id);
    id.ok_or_else(|| {
        let mut failure = Failure::failed(format!("user `{id_or_name}` not found"));
        failure.diagnostics[0].help = Some("run `stoker user list` to see all users".to_owned());
        failure
    })
}

fn update(args: &UpdateArgs, remote: &mut Remote<'_>) -> Outcome {
    let mut body = json!({});
    if !args.roles.is_empty() {
        set(&mut body, "roles", &args.roles);
    }
    if args.enable || args.disable {
        set(&mut body, "enabled", args.enable);
    }
    if args.password {
        set(&mut body, "password", terminal::ask_secret("New password:")?);
    }
    if body == json!({}) {
        return Err(Failure::usage("no fields to update", "pass `--role`, `--password` or `--disable`"));
    }
    let id = find(remote, &args.user)?;
    let user = remote.send_json(Method::Put, format!("users/{id}"), &body)?;
    remote.report_change("updated user", &user)
}

/// Manage API tokens
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    verb: TokenVerb,

    #[command(flatten)]
    options: SharedOptions,
}

#[derive(Debug, Subcommand)]
enum TokenVerb {
    // sorted
    Create(TokenCreateArgs),
    Delete(TokenDeleteArgs),
    List(TokenListArgs),
    // end sorted
}

/// Create an API token; its value is shown only once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In the default output format, standard output contains only the token.

Examples:
  STOKER_TOKEN=$(stoker token create 'nightly job' --days 30)")]
struct TokenCreateArgs {
    /// Description of the token's purpose, shown in lists
    #[arg(value_name = "LABEL")]
    label: String,

    /// Lifetime of the token in days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3650))]
    days: i64,
}

/// List API tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tokens created by `stoker login` have no label.

Examples:
  stoker token list
  stoker token list --user 2")]
struct TokenListArgs {
    /// Filter by user ID (administrators only)
    #[arg(long, value_name = "ID")]
    user: Option<i64>,
}

/// Revoke API tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker token delete 7")]
struct TokenDeleteArgs {
    /// Token IDs
    #[arg(value_name = "TOKEN", required = true)]
    tokens: Vec<i64>,
}

pub(crate) fn token(args: &TokenArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    match &args.verb {
        TokenVerb::Create(args) => {
            let body = json!({"label": args.label, "expires_in": args.days * 86_400});
            let response = remote.send_json(Method::Post, "tokens", &body)?;
            if remote.format() != Format::Table {
                return remote.data(&response);
            }
            let token: TokenView = typed(&response)?;
            remote.note(&format!("created token {}, expires at {}", token.id, display(&token.expires_at)));
            Ok(remote.printer.data(&token.token.unwrap_or_default())?)
        }
        TokenVerb::Delete(args) => {
            for id in &args.tokens {
                remote.delete(format!("tokens/{id}"))?;
                remote.note(&format!("revoked token {id}"));
            }
            Ok(())
        }
        TokenVerb::List(args) => {
            let tokens = remote.get_list(&RestRequest::get("tokens").query_opt("user_id", args.user))?;
            remote.list(
                &[("id", "id"), ("label", "label"), ("created", "issued_at"), ("expires", "expires_at")],
                tokens,
            )
        }
    }
}
