//! `stoker role` and `stoker tag`: what nodes can be. Both are documents of a release or of a cluster.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value as Json;
use stoker_client::{ClientError, Method, Request, segment};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Columns, Format, Options, Remote, Shared, failure};

/// Roles: what nodes of a release or a cluster can be
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  stoker role list --release 1
  stoker role create --env 1 --file role.yaml"
)]
pub(crate) struct RoleArgs {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

/// Tags: what roles bring with them, and tasks are placed by
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  stoker tag list --release 1
  stoker tag create --env 1 --file tag.yaml"
)]
pub(crate) struct TagArgs {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make one of a document
    #[command(after_help = "\
The document has `name` and `meta`, as `show --output yaml` shows them.

Examples:
  stoker role create --release 1 --file role.yaml")]
    Create(FileArgs),
    /// Delete one
    #[command(after_help = "\
Examples:
  stoker role delete --env 1 edge")]
    Delete(NameArgs),
    /// List them
    #[command(after_help = "\
Those of a cluster are its own, and those of its release and its plugins.

Examples:
  stoker role list --env 1")]
    List(OwnerArgs),
    /// Show one
    #[command(after_help = "\
Examples:
  stoker role show --release 1 web --output yaml")]
    Show(NameArgs),
    /// Change one as a document says
    #[command(after_help = "\
Examples:
  stoker role update --release 1 web --file role.yaml")]
    Update(UpdateArgs),
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct OwnerArgs {
    /// Of this cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// Of this release
    #[arg(long, short, value_name = "ID")]
    release: Option<i64>,
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Its name
    #[arg(value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: String,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// The document; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
struct UpdateArgs {
    #[command(flatten)]
    named: NameArgs,

    /// The document; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// How the two differ.
struct Kind {
    word: &'static str,
    columns: Columns<'static>,
}

const ROLE: Kind = Kind {
    word: "role",
    columns: &[
        ("name", "name"),
        ("title", "meta.name"),
        ("tags", "meta.tags"),
        ("conflicts", "meta.conflicts"),
        ("description", "meta.description"),
    ],
};

const TAG: Kind = Kind { word: "tag", columns: &[("name", "name"), ("has a primary", "meta.has_primary")] };

pub(crate) fn role(args: &RoleArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    act(&ROLE, &args.verb, &mut remote)
}

pub(crate) fn tag(args: &TagArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    act(&TAG, &args.verb, &mut remote)
}

impl OwnerArgs {
    fn path(&self, kind: &Kind) -> String {
        let (collection, id) = match (self.env, self.release) {
            (Some(id), _) => ("clusters", id),
            (None, id) => ("releases", id.unwrap_or_default()),
        };
        format!("{collection}/{id}/{}s", kind.word)
    }
}

impl NameArgs {
    fn path(&self, kind: &Kind) -> String {
        format!("{}/{}", self.owner.path(kind), segment(&self.name))
    }
}

fn act(kind: &Kind, verb: &Verb, remote: &mut Remote<'_>) -> Outcome {
    match verb {
        Verb::Create(args) => {
            let text = read_text(&args.file)?;
            let made = remote.upload(Request::new(Method::Post, args.owner.path(kind)), &text)?;
            told(remote, "made", kind, &made)
        }
        Verb::Delete(args) => {
            remote.delete(args.path(kind))?;
            remote.note(&format!("deleted {} {}", kind.word, args.name));
            Ok(())
        }
        Verb::List(owner) => {
            let all = remote.get_list(&Request::get(owner.path(kind)))?;
            remote.list(kind.columns, all)
        }
        Verb::Show(args) => {
            let shown = find(remote, kind, args)?;
            remote.details(kind.columns, &shown)
        }
        Verb::Update(args) => {
            let text = read_text(&args.file)?;
            let changed = remote.upload(Request::new(Method::Put, args.named.path(kind)), &text)?;
            told(remote, "changed", kind, &changed)
        }
    }
}

/// Of a cluster also those of its release and its plugins, which are in its list.
fn find(remote: &mut Remote<'_>, kind: &Kind, args: &NameArgs) -> Outcome<Json> {
    let refused = match remote.try_send(&Request::get(args.path(kind))).and_then(|answer| answer.json()) {
        Ok(shown) => return Ok(shown),
        Err(error) => error,
    };
    let is_missing = matches!(&refused, ClientError::Refused(refusal) if refusal.status == 404);
    if is_missing && args.owner.env.is_some() {
        let all = remote.get_list(&Request::get(args.owner.path(kind)))?;
        if let Some(found) = all.into_iter().find(|thing| thing["name"] == *args.name) {
            return Ok(found);
        }
    }
    Err(failure(refused, None))
}

fn told(remote: &mut Remote<'_>, what: &str, kind: &Kind, thing: &Json) -> Outcome {
    if remote.format() != Format::Table {
        return remote.data(thing);
    }
    remote.made(&format!("{what} {}", kind.word), &serde_json::json!({"name": thing["name"]}))
}
