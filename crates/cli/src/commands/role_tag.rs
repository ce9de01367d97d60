//! `stoker role` and `stoker tag`. Both manage documents of a release or a cluster with the same verbs, which
//! share their help texts.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value as Json;
use stoker_api_types::roles::RoleView;
use stoker_api_types::tags::TagView;
use stoker_client::{ClientError, Method, RestRequest, encode_segment};

use crate::exit::Outcome;
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Columns, Format, Options, Remote, SharedOptions, failure, typed};

/// Manage node roles in releases and clusters
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

/// Manage tags: roles assign them to nodes, and tasks select nodes by them
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

/// Placeholder in the help texts of the verbs, which `role` and `tag` share.
pub(crate) const NOUN: &str = "{noun}";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Create a {noun}
    #[command(after_help = "\
The document has the keys `name` and `meta`, in the format of `stoker {noun} show --output yaml`.

Examples:
  stoker {noun} create --release 1 --file {noun}.yaml
  stoker {noun} create --env 1 --file {noun}.yaml")]
    Create(FileArgs),
    /// Delete a {noun}
    #[command(after_help = "\
Examples:
  stoker {noun} delete --env 1 edge")]
    Delete(NameArgs),
    /// List {noun}s
    #[command(after_help = "\
The list for a cluster includes the {noun}s of its release and plugins.

Examples:
  stoker {noun} list --env 1
  stoker {noun} list --release 1")]
    List(OwnerArgs),
    /// Show a {noun}
    #[command(after_help = "\
Examples:
  stoker {noun} show --release 1 edge --output yaml")]
    Show(NameArgs),
    /// Update a {noun} from a file; omitted fields keep their values
    #[command(after_help = "\
The document has the keys `name` and `meta`, in the format of `stoker {noun} show --output yaml`.

Examples:
  stoker {noun} update --release 1 edge --file {noun}.yaml")]
    Update(UpdateArgs),
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct OwnerArgs {
    /// Cluster that the {noun} belongs to, by ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: Option<i64>,

    /// Release that the {noun} belongs to, by ID
    #[arg(long, short, value_name = "ID")]
    release: Option<i64>,
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// Name of the {noun}
    #[arg(value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    name: String,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    #[command(flatten)]
    owner: OwnerArgs,

    /// YAML or JSON document with `name` and `meta`; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
struct UpdateArgs {
    #[command(flatten)]
    target: NameArgs,

    /// YAML or JSON document with `name` and `meta`; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Differences between roles and tags.
struct Resource {
    noun: &'static str,
    columns: Columns<'static>,
    /// Returns the name in a response.
    name: fn(&Json) -> Outcome<String>,
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
    name: |document| Ok(typed::<RoleView>(document)?.name),
};

const TAG: Resource = Resource {
    noun: "tag",
    columns: &[("name", "name"), ("has a primary", "meta.has_primary")],
    name: |document| Ok(typed::<TagView>(document)?.name),
};

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

/// Returns a role or tag. The ones that a cluster inherits from its release and plugins are only in its list.
fn find(remote: &mut Remote<'_>, resource: &Resource, args: &NameArgs) -> Outcome<Json> {
    let error = match remote.try_send(&RestRequest::get(args.path(resource))).and_then(|answer| answer.json())
    {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    let is_missing = matches!(&error, ClientError::Rejected(refusal) if refusal.status == 404);
    if is_missing && args.owner.env.is_some() {
        let documents = remote.get_list(&RestRequest::get(args.owner.path(resource)))?;
        for document in documents {
            if (resource.name)(&document)? == args.name {
                return Ok(document);
            }
        }
    }
    Err(failure(error, None))
}

fn report(remote: &mut Remote<'_>, action: &str, resource: &Resource, document: &Json) -> Outcome {
    if remote.format() != Format::Table {
        return remote.data(document);
    }
    remote.report_change(
        &format!("{action} {}", resource.noun),
        &serde_json::json!({"name": (resource.name)(document)?}),
    )
}
