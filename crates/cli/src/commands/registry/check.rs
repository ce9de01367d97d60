//! `stoker registry check`: compatibility of selected components.

use clap::ValueEnum;
use stoker_diagnostics::Diagnostic;
use stoker_model::Json;
use stoker_registry::components::Selection;

use super::offline::Source;
use crate::exit::{Exit, Failure, Outcome};
use crate::printer::Printer;
use crate::remote::set;

/// Check whether components are compatible
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With `--output json`, standard output contains {\"compatible\", \"conflicts\"}; each conflict has a reason.

Exit codes:
  0  the components are compatible
  1  the components are incompatible, or a plugin is invalid
  2  invalid usage
  3  a file could not be read

Examples:
  stoker registry check --release release.yaml --plugin contrail/ -- hypervisor:qemu network:core:contrail")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,

    /// Component names
    #[arg(value_name = "COMPONENT", required = true)]
    components: Vec<String>,

    /// Output format: `text` or `json`
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true, default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let offline = args.source.read(printer)?;
    let components: Vec<&str> = args.components.iter().map(String::as_str).collect();
    let required_types: Vec<&str> = offline.required_types.iter().map(String::as_str).collect();
    let decision = offline
        .registry
        .check_selection(Selection { components: &components, required_types: &required_types });
    let reasons: Vec<String> =
        decision.conflicts.iter().map(|finding| offline.registry.explain(finding)).collect();
    let mut failure = Failure { exit: Exit::Failed, diagnostics: Vec::new() };
    if args.output == Format::Json {
        let mut json = decision.to_json();
        if let Some(Json::Array(conflicts)) = json.get_mut("conflicts") {
            for (conflict, reason) in conflicts.iter_mut().zip(&reasons) {
                set(conflict, "reason", reason);
            }
        }
        printer.data(&format!("{json:#}"))?;
    } else if decision.is_compatible() {
        printer.data("compatible")?;
    } else {
        let conflicts = decision.conflicts.iter().zip(reasons);
        failure.diagnostics =
            conflicts.map(|(conflict, reason)| Diagnostic::error(conflict.kind(), reason)).collect();
    }
    if decision.is_compatible() { Ok(()) } else { Err(failure) }
}
