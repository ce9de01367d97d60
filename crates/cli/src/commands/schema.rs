//! `stoker schema`: JSON Schemas of input files, for editors.

use crate::exit::Outcome;
use crate::printer::Printer;

/// Print the JSON Schema of a file format, for use in editors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors with the YAML language server complete and check files that start with
  # yaml-language-server: $schema=tasks.schema.json

Examples:
  stoker schema tasks > tasks.schema.json")]
pub(crate) struct Args {
    /// File format: `tasks` for graphs and lists of tasks
    #[arg(value_name = "FORMAT", hide_possible_values = true)]
    kind: FileKind,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FileKind {
    Tasks,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let schema = match args.kind {
        FileKind::Tasks => stoker_tasks::schema::tasks(),
    };
    printer.data(&format!("{schema:#}\n"))?;
    Ok(())
}
