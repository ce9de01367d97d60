//! `stoker settings`: settings of a cluster.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value as Json, json};
use stoker_api_types::attributes::AttributesView;
use stoker_client::{Body, Method, RestRequest};
use stoker_yaql::eval::suggest::closest_name;

use super::env::EnvArg;
use crate::exit::{Failure, Outcome};
use crate::input::read_text;
use crate::printer::Printer;
use crate::remote::{Format, Options, Remote, SharedOptions, cell, confirm, grid, typed, with_force_hint};

/// Show and change the settings of a cluster
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    options: SharedOptions,
}

/// Show and change the settings of a cluster; same as `stoker settings`
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Nested {
    #[command(subcommand)]
    verb: Verb,
}

/// Placeholder in the help texts of the verbs, which `stoker settings` and `stoker env settings` share.
pub(crate) const COMMAND: &str = "{command}";

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

/// Show the settings of a cluster and their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  {command} show 1
  {command} show 1 --defaults
  {command} show 1 --deployed --output yaml")]
struct ShowArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    source: SettingsSource,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct SettingsSource {
    /// Use the defaults of the release and plugins instead of current values
    #[arg(long)]
    defaults: bool,

    /// Use the settings of the last successful run instead of current values
    #[arg(long)]
    deployed: bool,
}

/// Download the settings of a cluster as YAML or JSON
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without `--file`, settings are written to standard output as YAML, or with `--output json` as JSON.

Examples:
  {command} download 1 --file settings.yaml
  {command} download 1 > settings.yaml")]
struct DownloadArgs {
    #[command(flatten)]
    env: EnvArg,

    #[command(flatten)]
    source: SettingsSource,

    /// Output file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Update the settings of a cluster from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file has the format of `{command} download`; settings that are not in the file keep their values. The entry of
a plugin enables or disables the plugin.

Examples:
  {command} upload 1 --file settings.yaml
  {command} upload 1 --file - < settings.yaml")]
struct UploadArgs {
    #[command(flatten)]
    env: EnvArg,

    /// Settings file; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,

    /// Change settings even if they are locked, as during and after a deployment
    #[arg(long)]
    force: bool,
}

/// Change individual settings of a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values are parsed as JSON; values that are not valid JSON are strings.

Examples:
  {command} set --env 1 common.debug=true
  {command} set --env 1 web.port=8080 web.name='the shop'")]
struct SetArgs {
    /// Cluster ID
    #[arg(long, short, value_name = "ID", visible_aliases = ["env-id", "cluster"])]
    env: i64,

    /// Settings to change, such as `common.debug=true`
    #[arg(value_name = "GROUP.SETTING=VALUE", required = true)]
    changes: Vec<String>,

    /// Change settings even if they are locked, as during and after a deployment
    #[arg(long)]
    force: bool,
}

/// Reset all settings of a cluster to their defaults
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  {command} reset 1
  {command} reset 1 --yes")]
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
    for (group, section) in typed::<AttributesView>(&settings)?.sections() {
        if section.metadata.class.as_deref() == Some("plugin") {
            let state = if section.metadata.enabled { "enabled" } else { "disabled" };
            rows.push(vec![group.to_owned(), state.to_owned(), "plugin".to_owned()]);
        }
        for (name, setting) in section.settings() {
            let is_secret = setting.r#type.as_deref() == Some("password");
            let value =
                if is_secret && setting.value != "" { "***".to_owned() } else { cell(&setting.value) };
            rows.push(vec![format!("{group}.{name}"), value, cell(&setting.label)]);
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
    let request = request.query_opt("force", args.force.then_some(1));
    let settings = remote.upload(request, &text).map_err(with_force_hint)?;
    report_updated(remote, id, &settings)
}

fn set(args: &SetArgs, remote: &mut Remote<'_>) -> Outcome {
    let changes = args.changes.iter().map(|text| parse_change(text)).collect::<Outcome<Vec<_>>>()?;
    let current: AttributesView = remote.read(format!("clusters/{}/attributes", args.env))?;
    let names: Vec<String> = current
        .sections()
        .flat_map(|(group, section)| {
            section.settings().map(|(name, _)| format!("{group}.{name}")).collect::<Vec<_>>()
        })
        .collect();
    let mut editable = json!({});
    for (group, name, value) in changes {
        let setting_name = format!("{group}.{name}");
        if !names.contains(&setting_name) {
            return Err(unknown_setting(&names, &setting_name));
        }
        editable[group][name] = json!({ "value": value });
    }
    let body = json!({ "editable": editable });
    let request = RestRequest::new(Method::Put, format!("clusters/{}/attributes", args.env));
    let request = request.body(Body::Json(&body)).query_opt("force", args.force.then_some(1));
    let settings = remote.send(&request).map_err(with_force_hint)?;
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

/// Returns the error for an unknown setting. The server accepts unknown settings, because a plugin may be
/// installed later; on the command line they are treated as typos.
fn unknown_setting(names: &[String], setting_name: &str) -> Failure {
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
