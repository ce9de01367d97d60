//! `stoker yaql bench`: measures parsing and evaluation.

use std::hint::black_box;
use std::path::PathBuf;

use nix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use stoker_diagnostics::{Diagnostic, Span};
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::value::Map;
use stoker_yaql::{Engine, Error, Expression, Input, Value};

use crate::exit::{Exit, Failure, Outcome};
use crate::input::{Text, read_text};
use crate::printer::Printer;

/// Benchmark the YAQL engine with the cases in a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints, as JSON, the minimum CPU time of parsing and of evaluating each case, and a digest of its result.

The file contains {\"docs\": {NAME: …}, \"cases\": [{\"name\": …, \"doc\": NAME, \"expr\": …}, …]}; each expression reads
its document as `$`. Times are in nanoseconds. Each evaluation starts with a new context and a converted document, and
lazy results are consumed. The digest covers the result as compact ASCII JSON with sorted keys.

Example:
  stoker yaql bench cases.json")]
pub(crate) struct Args {
    /// JSON file with benchmark cases
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let text = read_text(&args.file)?;
    let file = json::parse(&text.content).map_err(|error| {
        let span = Span::in_text(&text.content, error.at..error.at + 1);
        Failure::new(Exit::Input, text.attach(Diagnostic::error("json-syntax", error.message).at(span)))
    })?;
    let cases = read_cases(&file).map_err(|message| invalid_file(&text, &message))?;
    let engine = Engine::default();
    let mut results = Vec::new();
    for case in &cases {
        let timing = measure(&engine, case).map_err(|error| case_failure(case, &error))?;
        results.push((case.name, timing));
    }
    let report = Map::from_strings([
        ("engine", Value::str(format!("stoker {}", env!("CARGO_PKG_VERSION")))),
        ("cases", Value::frozen_dict(Map::from_strings(results))),
    ]);
    let options = WriteOptions { indent: Some(1), ..WriteOptions::default() };
    let report = json::write(&Value::frozen_dict(report), &options)
        .map_err(|error| Failure::input(error.message.clone()))?;
    Ok(printer.data(&report)?)
}

struct Case<'a> {
    name: &'a str,
    document: &'a Value,
    source: &'a str,
}

fn read_cases(file: &Value) -> Result<Vec<Case<'_>>, String> {
    let field = |key: &str| file.as_map().and_then(|map| map.get_str(key));
    let docs = field("docs").and_then(Value::as_map).ok_or("`docs` must be an object")?;
    let cases = field("cases").and_then(Value::as_seq).ok_or("`cases` must be an array")?;
    cases.iter().enumerate().map(|(case_idx, case)| read_case(case, case_idx, docs)).collect()
}

fn read_case<'a>(case: &'a Value, case_idx: usize, docs: &'a Map) -> Result<Case<'a>, String> {
    let text = |key: &str| {
        let value = case.as_map().and_then(|map| map.get_str(key)).and_then(Value::as_str);
        value.ok_or_else(|| format!("case {} needs a string `{key}`", case_idx + 1))
    };
    let (name, doc, source) = (text("name")?, text("doc")?, text("expr")?);
    let document =
        docs.get_str(doc).ok_or_else(|| format!("case `{name}` refers to the unknown document `{doc}`"))?;
    Ok(Case { name, document, source })
}

fn invalid_file(text: &Text, message: &str) -> Failure {
    Failure::input(format!("invalid case file `{}`: {message}", text.origin))
}

fn case_failure(case: &Case<'_>, error: &Error) -> Failure {
    let message = format!("case `{}` failed: {}", case.name, error.message);
    let span = error.span.unwrap_or_default();
    let span = Span::in_text(case.source, span.start as usize..span.end as usize);
    let diagnostic = Diagnostic::error(error.class.name(), message).help_if(error.help.clone());
    Failure::new(Exit::Failed, diagnostic.at(span).in_source("expression", case.source))
}

fn measure(engine: &Engine, case: &Case<'_>) -> stoker_yaql::Result<Value> {
    let expression = engine.compile(case.source)?;
    let result = evaluate(&expression, case.document)?;
    let parse_ns = minimum_ns(|| (), |()| engine.compile(black_box(case.source)));
    // The first evaluation caches resolved overloads and key positions in the expression. Each timed
    // evaluation therefore gets a newly compiled expression.
    let eval_ns = minimum_ns(
        || engine.compile(case.source),
        |expression| {
            let result =
                expression.as_ref().ok().map(|expression| evaluate(black_box(expression), case.document));
            (result, expression)
        },
    );
    let timing = Map::from_strings([
        ("parse_ns", Value::Int(parse_ns)),
        ("eval_ns", Value::Int(eval_ns)),
        ("sha256", Value::str(digest(&result)?)),
    ]);
    Ok(Value::frozen_dict(timing))
}

/// Evaluates with a new context; only the compiled expression is reused.
fn evaluate(expression: &Expression, document: &Value) -> stoker_yaql::Result<Value> {
    expression.run(Input { data: document.clone(), ..Input::default() })
}

fn digest(value: &Value) -> stoker_yaql::Result<String> {
    let options = WriteOptions { sort_keys: true, compact: true, ..WriteOptions::default() };
    let hash = Sha256::digest(json::write(value, &options)?);
    Ok(hex::encode(hash))
}

/// CPU time per measurement, unless fewer than [`ROUNDS_MIN`] rounds fit into it.
const BUDGET_NS: i64 = 80_000_000;
const ROUNDS_MIN: u32 = 5;
/// Length of a timed batch of short calls. Reading the clock takes a large part of a microsecond.
const BATCH_NS: i64 = 50_000;
const BATCH_CALLS_MAX: usize = 1_024;

/// Returns the minimum CPU time of a call. Inputs are prepared and results dropped outside the timed part.
fn minimum_ns<I, T>(mut prepare: impl FnMut() -> I, mut call: impl FnMut(I) -> T) -> i64 {
    let mut batch = |calls| timed_ns(calls, &mut prepare, &mut call);
    // Find the batch size; the first calls also warm up caches.
    let mut calls = 1;
    while calls < BATCH_CALLS_MAX && batch(calls) < BATCH_NS {
        calls *= 2;
    }
    let (mut minimum, mut spent, mut rounds) = (i64::MAX, 0, 0);
    while rounds < ROUNDS_MIN || spent < BUDGET_NS {
        let elapsed_ns = batch(calls);
        spent += elapsed_ns;
        rounds += 1;
        minimum = minimum.min(elapsed_ns / calls as i64);
    }
    minimum.max(1)
}

fn timed_ns<I, T>(calls: usize, prepare: &mut impl FnMut() -> I, call: &mut impl FnMut(I) -> T) -> i64 {
    let inputs: Vec<I> = (0..calls).map(|_| prepare()).collect();
    let mut results = Vec::with_capacity(calls);
    let started = processor_ns();
    for input in inputs {
        results.push(call(input));
    }
    let elapsed = processor_ns() - started;
    drop(black_box(results));
    elapsed
}

/// Returns the CPU time of this thread. The clock is always available on Linux.
fn processor_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}
