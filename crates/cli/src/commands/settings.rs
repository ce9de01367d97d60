//! `stoker settings`: what was chosen for a cluster.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::{Body, Method, Request};
use stoker_yaql::eval::suggest::closest;

use super::env::EnvArg;
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, Shared, cell, confirm, grid};

/// Settings of a cluster: show, set, download, upload
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: Shared,
}

/// Settings of a cluster: show, set, download, upload
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Nested {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    // sorted
    Download(DownloadArgs),
    Reset(ResetArgs),
    Set(SetArgs),
    Show(ShowArgs),
    Upload(UploadArgs),
    // end sorted
}

/// Show settings and their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker settings show 1
  stoker settings show 1 --defaults
  stoker settings show 1 --deployed --output yaml")]
struct ShowArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Which {
    /// As the release and the plugins bring them
    #[arg(long)]
    defaults: bool,

    /// As they were at the last successful run
    #[arg(long)]
    deployed: bool,
}

/// Write settings to a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without `--file` they go to standard output, as YAML or with `--output json` as JSON.

Examples:
  stoker settings download 1 --file settings.yaml
  stoker env settings download --env 1 > settings.yaml")]
struct DownloadArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    which: Which,

    /// Where to; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Change settings as a file says
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is what `download` wrote, or a part of it: what it does not name stays. A plugin is enabled by its entry.

Examples:
  stoker settings upload 1 --file settings.yaml
  stoker env settings upload --env 1 --file - < settings.yaml")]
struct UploadArgs {
    #[command(flatten)]
    env: EnvArg,

    /// The settings; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,

    /// Even if the cluster is locked
    #[arg(long)]
    force: bool,
}

/// Change some settings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A value is JSON, or else text.

Examples:
  stoker settings set --env 1 common.debug=true
  stoker settings set --env 1 web.port=8080 web.name='the shop'")]
struct SetArgs {
    /// Id of the cluster
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: i64,

    /// What becomes what
    #[arg(value_name = "GROUP.SETTING=VALUE", required = true)]
    changes: Vec<String>,

    /// Even if the cluster is locked
    #[arg(long)]
    force: bool,
}

/// Set everything back to the defaults
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker settings reset 1 --yes")]
struct ResetArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.over(earlier), printer)?;
    act(&args.verb, &mut remote)
}

pub(super) fn run_nested(nested: &Nested, remote: &mut Remote<'_>) -> Outcome {
    act(&nested.verb, remote)
}

fn act(verb: &Verb, remote: &mut Remote<'_>) -> Outcome {
    match verb {
        Verb::Download(args) => download(args, remote),
        Verb::Reset(args) => reset(args, remote),
        Verb::Set(args) => set(args, remote),
        Verb::Show(args) => show(args, remote),
        Verb::Upload(args) => upload(args, remote),
    }
}

fn read(env: &EnvArg, which: &Which, remote: &mut Remote<'_>) -> Outcome<Json> {
    let end = match (which.defaults, which.deployed) {
        (true, _) => "/defaults",
        (_, true) => "/deployed",
        _ => "",
    };
    remote.get(format!("clusters/{}/attributes{end}", env.id()))
}

fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let settings = read(&args.env, &args.which, remote)?;
    if remote.format() != Format::Table {
        return remote.data(&settings);
    }
    let mut rows = Vec::new();
    for (group, entries) in settings["editable"].as_object().into_iter().flatten() {
        let metadata = &entries["metadata"];
        if metadata["class"] == "plugin" {
            let state = if metadata["enabled"] == true { "enabled" } else { "disabled" };
            rows.push(vec![group.clone(), state.to_owned(), "plugin".to_owned()]);
        }
        for (name, setting) in entries.as_object().into_iter().flatten() {
            let Some(value) = setting.get("value") else { continue };
            let is_secret = setting["type"] == "password";
            let value = if is_secret && *value != "" { "***".to_owned() } else { cell(value) };
            rows.push(vec![format!("{group}.{name}"), value, cell(&setting["label"])]);
        }
    }
    let header = ["setting", "value", "what it is"];
    Ok(remote.printer.page(&grid(&header, rows.into_iter()))?)
}

fn download(args: &DownloadArgs, remote: &mut Remote<'_>) -> Outcome {
    let settings = read(&args.env, &args.which, remote)?;
    save(remote, &settings, args.file.as_ref(), "the settings")
}

/// Writes a document to a file or to standard output: YAML, unless JSON is wanted.
pub(super) fn save(remote: &mut Remote<'_>, document: &Json, file: Option<&PathBuf>, what: &str) -> Outcome {
    let is_json_file = file.is_some_and(|path| path.extension().is_some_and(|extension| extension == "json"));
    let as_json = remote.format() == Format::Json || (remote.format() == Format::Table && is_json_file);
    let text = if as_json { format!("{document:#}\n") } else { stoker_manifest::to_yaml(document) };
    let Some(path) = file else { return Ok(remote.printer.data(&text)?) };
    let written = std::fs::write(path, text);
    written.map_err(|error| Failure::unwritable(path, &error))?;
    remote.note(&format!("wrote {what} to {}", path.display()));
    Ok(())
}

fn upload(args: &UploadArgs, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let id = args.env.id();
    let request = Request::new(Method::Put, format!("clusters/{id}/attributes"));
    let settings = remote.upload(request.maybe("force", args.force.then_some(1)), &text)?;
    done(remote, id, &settings)
}

fn set(args: &SetArgs, remote: &mut Remote<'_>) -> Outcome {
    let changes = args.changes.iter().map(|text| change(text)).collect::<Outcome<Vec<_>>>()?;
    let known = remote.get(format!("clusters/{}/attributes", args.env))?;
    let mut editable = json!({});
    for (group, name, value) in changes {
        if known["editable"][group][name].get("value").is_none() {
            return Err(unknown(&known, &format!("{group}.{name}")));
        }
        editable[group][name] = json!({ "value": value });
    }
    let body = json!({ "editable": editable });
    let request = Request::new(Method::Put, format!("clusters/{}/attributes", args.env));
    let request = request.body(Body::Json(&body)).maybe("force", args.force.then_some(1));
    let settings = remote.send(&request)?;
    done(remote, args.env, &settings)
}

/// `common.debug=true` in its parts; what is no JSON is text.
fn change(text: &str) -> Outcome<(&str, &str, Json)> {
    let parts = text.split_once('=').and_then(|(path, value)| Some((path.split_once('.')?, value)));
    let Some(((group, name), value)) = parts else {
        let help = "write `GROUP.SETTING=VALUE`, as in `common.debug=true`";
        return Err(Failure::usage(format!("`{text}` says not what becomes what"), help));
    };
    Ok((group, name, serde_json::from_str(value).unwrap_or_else(|_| json!(value))))
}

/// A server takes settings that nobody knows, for a plugin may come to know them; here it is a slip.
fn unknown(known: &Json, wanted: &str) -> Failure {
    let mut names = Vec::new();
    for (group, entries) in known["editable"].as_object().into_iter().flatten() {
        let settings = entries.as_object().into_iter().flatten();
        let settings = settings.filter(|(_, setting)| setting.get("value").is_some());
        names.extend(settings.map(|(name, _)| format!("{group}.{name}")));
    }
    let mut failure = Failure::failed(format!("there is no setting `{wanted}`"));
    let near = closest(wanted, names.iter().map(String::as_str));
    failure.diagnostics[0].help = Some(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`stoker settings show` lists them; `settings upload` can add some".to_owned(),
    });
    failure
}

fn reset(args: &ResetArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    confirm(&format!("Set all settings of cluster {id} back to the defaults?"), args.yes)?;
    let path = format!("clusters/{id}/attributes/defaults");
    let settings = remote.send_json(Method::Put, path, &json!({}))?;
    done(remote, id, &settings)
}

fn done(remote: &mut Remote<'_>, id: i64, settings: &Json) -> Outcome {
    if remote.format() != Format::Table {
        return remote.data(settings);
    }
    remote
        .note(&format!("changed the settings of cluster {id}; `stoker plan --env {id}` tells what follows"));
    Ok(())
}
