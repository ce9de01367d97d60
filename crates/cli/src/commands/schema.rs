//! `stoker schema`: what files may look like, for editors.

use crate::exit::Outcome;
use crate::printer::Printer;

/// Print the JSON Schema of a kind of file, for editors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An editor that speaks the YAML language server completes and checks a file that begins with
  # yaml-language-server: $schema=tasks.schema.json

Examples:
  stoker schema tasks > tasks.schema.json")]
pub(crate) struct Args {
    #[arg(value_name = "KIND")]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    /// Graphs, and lists of tasks
    Tasks,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let schema = match args.kind {
        Kind::Tasks => stoker_tasks::schema::tasks(),
    };
    printer.data(&format!("{schema:#}\n"))?;
    Ok(())
}
