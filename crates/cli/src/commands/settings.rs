//! `stoker settings`: settings of a cluster.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_client::{Body, Method, RestRequest};
use stoker_yaql::eval::suggest::closest_name;

use super::env::EnvArg;
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, cell, confirm, grid};

/// Show and change the settings of a cluster
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
}

/// Show and change the settings of a cluster
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
    source: SettingsSource,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct SettingsSource {
    /// Defaults of the release and plugins
    #[arg(long)]
    defaults: bool,

    /// Settings of the last successful run
    #[arg(long)]
    deployed: bool,
}

/// Download settings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without `--file`, settings are written to standard output as YAML, or with `--output json` as JSON.

Examples:
  stoker settings download 1 --file settings.yaml
  stoker env settings download --env 1 > settings.yaml")]
struct DownloadArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    source: SettingsSource,

    /// Output file (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Update settings from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is the output of `download` or a part of it; settings that it omits keep their values. The entry of a plugin
enables or disables it.

Examples:
  stoker settings upload 1 --file settings.yaml
  stoker env settings upload --env 1 --file - < settings.yaml")]
struct UploadArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Settings file; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,

    /// Update even if the cluster is locked
    #[arg(long)]
    force: bool,
}

/// Set individual settings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A value is parsed as JSON; if it is not valid JSON, it is a string.

Examples:
  stoker settings set --env 1 common.debug=true
  stoker settings set --env 1 web.port=8080 web.name='the shop'")]
struct SetArgs {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_alias = "env-id")]
    env: i64,

    /// Settings to change
    #[arg(value_name = "GROUP.SETTING=VALUE", required = true)]
    changes: Vec<String>,

    /// Update even if the cluster is locked
    #[arg(long)]
    force: bool,
}

/// Reset all settings to their defaults
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  stoker settings reset 1 --yes")]
struct ResetArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(args: &Args, earlier: &Options, printer: &mut Printer) -> Outcome {
    let mut remote = Remote::connect(&args.options.merge(earlier), printer)?;
    run_verb(&args.verb, &mut remote)
}

pub(super) fn run_nested(nested: &Nested, remote: &mut Remote<'_>) -> Outcome {
    run_verb(&nested.verb, remote)
}

fn run_verb(verb: &Verb, remote: &mut Remote<'_>) -> Outcome {
    match verb {
        Verb::Download(args) => download(args, remote),
        Verb::Reset(args) => reset(args, remote),
        Verb::Set(args) => set(args, remote),
        Verb::Show(args) => show(args, remote),
        Verb::Upload(args) => upload(args, remote),
    }
}

fn read(env: &EnvArg, source: &SettingsSource, remote: &mut Remote<'_>) -> Outcome<Json> {
    let suffix = match (source.defaults, source.deployed) {
        (true, _) => "/defaults",
        (_, true) => "/deployed",
        _ => "",
    };
    remote.get(format!("clusters/{}/attributes{suffix}", env.id()))
}

fn show(args: &ShowArgs, remote: &mut Remote<'_>) -> Outcome {
    let settings = read(&args.env, &args.source, remote)?;
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
    let header = ["setting", "value", "description"];
    Ok(remote.printer.page(&grid(&header, rows.into_iter()))?)
}

fn download(args: &DownloadArgs, remote: &mut Remote<'_>) -> Outcome {
    let settings = read(&args.env, &args.source, remote)?;
    save(remote, &settings, args.file.as_ref(), "settings")
}

/// Writes a document to a file or standard output: JSON if requested, otherwise YAML.
pub(super) fn save(remote: &mut Remote<'_>, document: &Json, file: Option<&PathBuf>, noun: &str) -> Outcome {
    let is_json_file = file.is_some_and(|path| path.extension().is_some_and(|extension| extension == "json"));
    let as_json = remote.format() == Format::Json || (remote.format() == Format::Table && is_json_file);
    let text = if as_json { format!("{document:#}\n") } else { stoker_manifest::to_yaml(document) };
    let Some(path) = file else { return Ok(remote.printer.data(&text)?) };
    let result = std::fs::write(path, text);
    result.map_err(|error| Failure::unwritable(path, &error))?;
    remote.note(&format!("wrote {noun} to {}", path.display()));
    Ok(())
}

fn upload(args: &UploadArgs, remote: &mut Remote<'_>) -> Outcome {
    let text = read_text(&args.file)?;
    let id = args.env.id();
    let request = RestRequest::new(Method::Put, format!("clusters/{id}/attributes"));
    let settings = remote.upload(request.query_opt("force", args.force.then_some(1)), &text)?;
    report_updated(remote, id, &settings)
}

fn set(args: &SetArgs, remote: &mut Remote<'_>) -> Outcome {
    let changes = args.changes.iter().map(|text| parse_change(text)).collect::<Outcome<Vec<_>>>()?;
    let current = remote.get(format!("clusters/{}/attributes", args.env))?;
    let mut editable = json!({});
    for (group, name, value) in changes {
        if current["editable"][group][name].get("value").is_none() {
            return Err(unknown_setting(&current, &format!("{group}.{name}")));
        }
        editable[group][name] = json!({ "value": value });
    }
    let body = json!({ "editable": editable });
    let request = RestRequest::new(Method::Put, format!("clusters/{}/attributes", args.env));
    let request = request.body(Body::Json(&body)).query_opt("force", args.force.then_some(1));
    let settings = remote.send(&request)?;
    report_updated(remote, args.env, &settings)
}

/// Parses `common.debug=true`; a value that is not JSON is a string.
fn parse_change(text: &str) -> Outcome<(&str, &str, Json)> {
    let fields = text.split_once('=').and_then(|(path, value)| Some((path.split_once('.')?, value)));
    let Some(((group, name), value)) = fields else {
        let help = "use `GROUP.SETTING=VALUE`, such as `common.debug=true`";
        return Err(Failure::usage(format!("invalid argument `{text}`"), help));
    };
    Ok((group, name, serde_json::from_str(value).unwrap_or_else(|_| json!(value))))
}

/// The server accepts unknown settings for plugins to come; on the command line they are treated as typos.
fn unknown_setting(current: &Json, setting_name: &str) -> Failure {
    let mut names = Vec::new();
    for (group, entries) in current["editable"].as_object().into_iter().flatten() {
        let settings = entries.as_object().into_iter().flatten();
        let settings = settings.filter(|(_, setting)| setting.get("value").is_some());
        names.extend(settings.map(|(name, _)| format!("{group}.{name}")));
    }
    let mut failure = Failure::failed(format!("unknown setting `{setting_name}`"));
    let similar = closest_name(setting_name, names.iter().map(String::as_str));
    failure.diagnostics[0].help = Some(match similar {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "run `stoker settings show` to see all settings".to_owned(),
    });
    failure
}

fn reset(args: &ResetArgs, remote: &mut Remote<'_>) -> Outcome {
    let id = args.env.id();
    confirm(&format!("Reset all settings of cluster {id} to their defaults?"), args.yes)?;
    let path = format!("clusters/{id}/attributes/defaults");
    let settings = remote.send_json(Method::Put, path, &json!({}))?;
    report_updated(remote, id, &settings)
}

fn report_updated(remote: &mut Remote<'_>, id: i64, settings: &Json) -> Outcome {
    if remote.format() != Format::Table {
        return remote.data(settings);
    }
    remote.note(&format!(
        "updated the settings of cluster {id}; run `stoker plan --env {id}` to see the effect"
    ));
    Ok(())
}
