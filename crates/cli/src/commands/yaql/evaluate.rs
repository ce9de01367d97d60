//! `stoker yaql EXPRESSION`: evaluates one expression.

use std::path::PathBuf;

use stoker_yaql::eval::ReadSet;
use stoker_yaql::value::Map;
use stoker_yaql::{Result, Value};

use super::explain::{Explanation, draw};
use super::session::{self, Session};
use crate::exit::Outcome;
use crate::input::{read_data, read_vars};
use crate::output::{Format, to_text};
use crate::printer::Printer;
use stoker_yaql::presentation::Trace;

#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent option")]
pub(crate) struct Args {
    /// Expression to evaluate
    #[arg(value_name = "EXPRESSION", required_unless_present = "jsonl", allow_negative_numbers = true)]
    expression: Option<String>,

    /// JSON or YAML document to read as `$`; `-` for standard input
    #[arg(long, short, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Variable to read as `$NAME`; can be repeated
    #[arg(long, value_name = "NAME=JSON")]
    var: Vec<String>,

    /// Output format: `json` or `yaml` (default `json`)
    #[arg(long, short, value_name = "FORMAT", hide_possible_values = true)]
    output: Option<Format>,

    /// Print a string result without quotes
    #[arg(long, short, conflicts_with_all = ["explain", "reads"])]
    raw: bool,

    /// Show the value of each subexpression
    #[arg(long, short, conflicts_with = "reads")]
    explain: bool,

    /// Show the paths that the expression may read, without evaluating it
    #[arg(long)]
    reads: bool,

    /// Answer requests from standard input, one JSON object per line
    #[arg(long, exclusive = true)]
    pub(super) jsonl: bool,

    #[command(flatten)]
    session: session::Args,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let session = Session::new(&args.session, printer)?;
    let source = args.expression.as_deref().unwrap_or_default();
    let expression = session.compile(source)?;
    if args.reads {
        return print_reads(&expression.reads(), args.output, &session, printer);
    }
    let vars = read_vars(&args.var)?;
    let data = match &args.data {
        Some(path) => {
            let data = read_data(path)?;
            data.warnings.iter().for_each(|warning| printer.diagnostic(warning));
            data.value
        }
        None => Value::Null,
    };
    if !args.explain {
        let result = session.evaluate(&expression, data, vars, None);
        return print_result(result, args, &session, source, printer);
    }
    let mut trace = Trace::default();
    let result = session.evaluate(&expression, data, vars, Some(&mut trace));
    let explanation = Explanation::new(&expression, &result, &trace, &session);
    print_explanation(&explanation, args.output, &session, printer)?;
    match result {
        Ok(_) => Ok(()),
        Err(error) => Err(session.failure(&error, source)),
    }
}

fn print_result(
    result: Result<Value>,
    args: &Args,
    session: &Session,
    source: &str,
    printer: &mut Printer,
) -> Outcome {
    let text = result.and_then(|value| match (&value, args.raw) {
        (Value::Str(text), true) => Ok(text.to_string()),
        _ => to_text(&value, args.output.unwrap_or_default(), &session.options),
    });
    let text = text.map_err(|error| session.failure(&error, source))?;
    Ok(printer.data(&text)?)
}

pub(super) fn print_explanation(
    explanation: &Explanation,
    output: Option<Format>,
    session: &Session,
    printer: &mut Printer,
) -> Outcome {
    let Some(format) = output else { return Ok(printer.page(&draw(explanation))?) };
    print_value(&explanation.to_value(), format, session, printer)
}

fn print_reads(reads: &ReadSet, output: Option<Format>, session: &Session, printer: &mut Printer) -> Outcome {
    let paths: Vec<String> = reads.paths.iter().map(ToString::to_string).collect();
    if let Some(format) = output {
        let value = Map::from_strings([
            ("paths", Value::tuple(paths.into_iter().map(Value::from).collect())),
            ("impure", Value::Bool(reads.impure)),
        ]);
        return print_value(&Value::frozen_dict(value), format, session, printer);
    }
    if !paths.is_empty() {
        printer.data(&paths.join("\n"))?;
    }
    if reads.impure {
        printer.note("note: the result also depends on the clock or on random numbers");
    }
    Ok(())
}

fn print_value(value: &Value, format: Format, session: &Session, printer: &mut Printer) -> Outcome {
    let text = to_text(value, format, &session.options).map_err(|error| session.failure(&error, ""))?;
    Ok(printer.data(&text)?)
}
