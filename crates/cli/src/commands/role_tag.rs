//! `stoker role` and `stoker tag`. Both manage documents of a release or a cluster with the same verbs.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value as Json;
use stoker_client::{ClientError, Method, RestRequest, encode_segment};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Columns, Format, Options, Remote, SharedOptions, failure};

/// Manage node roles of releases and clusters
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
    options: SharedOptions,
}

/// Manage tags, which roles assign to nodes and tasks select nodes by
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
    options: SharedOptions,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a role or tag from a document
    #[command(after_help = "\
The document contains `name` and `meta`, as printed by `show --output yaml`.

Examples:
  stoker role create --release 1 --file role.yaml")]
    Create(FileArgs),
    /// Delete a role or tag
    #[command(after_help = "\
Examples:
  stoker role delete --env 1 edge")]
    Delete(NameArgs),
    /// List roles or tags
    #[command(after_help = "\
The list of a cluster includes those of its release and plugins.

Examples:
  stoker role list --env 1")]
    List(OwnerArgs),
    /// Show a role or tag
    #[command(after_help = "\
Examples:
  stoker role show --release 1 web --output yaml")]
    Show(NameArgs),
    /// Update a role or tag from a document
    #[command(after_help = "\
Examples:
  stoker role update --release 1 web --file role.yaml")]
    Update(UpdateArgs),
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct OwnerArgs {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: Option<i64>,

    /// Release ID
    #[arg(long, short, value_name = "ID")]
    release: Option<i64>,
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Name of the role or tag
    #[arg(value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: String,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Document with `name` and `meta`; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
struct UpdateArgs {
    #[command(flatten)]
    target: NameArgs,

    /// Document with `name` and `meta`; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Differences between roles and tags.
struct Resource {
    noun: &'static str,
    columns: Columns<'static>,
}

const ROLE: Resource = Resource {
    noun: "role",
    columns: &[
        ("name", "name"),
        ("title", "meta.name"),
        ("tags", "meta.tags"),
        ("conflicts", "meta.conflicts"),
        ("description", "meta.description"),
    ],
};

const TAG: Resource =
    Resource { noun: "tag", columns: &[("name", "name"), ("has a primary", "meta.has_primary")] };

pub(crate) fn role(args: &RoleArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    run_verb(&ROLE, &args.verb, &mut remote)
}

pub(crate) fn tag(args: &TagArgs, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    run_verb(&TAG, &args.verb, &mut remote)
}

impl OwnerArgs {
    fn path(&self, resource: &Resource) -> String {
        let (collection, id) = match (self.env, self.release) {
            (Some(id), _) => ("clusters", id),
            (None, id) => ("releases", id.unwrap_or_default()),
        };
        format!("{collection}/{id}/{}s", resource.noun)
    }
}

impl NameArgs {
    fn path(&self, resource: &Resource) -> String {
        format!("{}/{}", self.owner.path(resource), encode_segment(&self.name))
    }
}

fn run_verb(resource: &Resource, verb: &Verb, remote: &mut Remote<'_>) -> Outcome {
    match verb {
        Verb::Create(args) => {
            let text = read_text(&args.file)?;
            let document = remote.upload(RestRequest::new(Method::Post, args.owner.path(resource)), &text)?;
            report(remote, "created", resource, &document)
        }
        Verb::Delete(args) => {
            remote.delete(args.path(resource))?;
            remote.note(&format!("deleted {} {}", resource.noun, args.name));
            Ok(())
        }
        Verb::List(owner) => {
            let documents = remote.get_list(&RestRequest::get(owner.path(resource)))?;
            remote.list(resource.columns, documents)
        }
        Verb::Show(args) => {
            let document = find(remote, resource, args)?;
            remote.details(resource.columns, &document)
        }
        Verb::Update(args) => {
            let text = read_text(&args.file)?;
            let document = remote.upload(RestRequest::new(Method::Put, args.target.path(resource)), &text)?;
            report(remote, "updated", resource, &document)
        }
    }
}

/// Returns a role or tag. Those that a cluster inherits from its release and plugins are only in its list.
fn find(remote: &mut Remote<'_>, resource: &Resource, args: &NameArgs) -> Outcome<Json> {
    let error = match remote.try_send(&RestRequest::get(args.path(resource))).and_then(|answer| answer.json())
    {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    let is_missing = matches!(&error, ClientError::Rejected(refusal) if refusal.status == 404);
    if is_missing && args.owner.env.is_some() {
        let documents = remote.get_list(&RestRequest::get(args.owner.path(resource)))?;
        if let Some(document) = documents.into_iter().find(|document| document["name"] == *args.name) {
            return Ok(document);
        }
    }
    Err(failure(error, None))
}

fn report(remote: &mut Remote<'_>, action: &str, resource: &Resource, document: &Json) -> Outcome {
    if remote.format() != Format::Table {
        return remote.data(document);
    }
    remote
        .report_change(&format!("{action} {}", resource.noun), &serde_json::json!({"name": document["name"]}))
}
