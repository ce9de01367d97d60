//! `stoker yaql bench`: how long parsing and evaluating take.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;

use nix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use stoker_yaql::json::{self, WriteOptions};
use stoker_yaql::value::Map;
use stoker_yaql::{Engine, Error, Expression, Input, Value};

use crate::diagnostic::{Diagnostic, Place};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::{Text, read_text};
use crate::printer::Printer;

/// Time the engine on a file of cases
///
/// Prints JSON with, for each case, the least processor time of parsing once and of evaluating once, and a
/// digest of the result.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file holds {\"docs\": {NAME: …}, \"cases\": [{\"name\": …, \"doc\": NAME, \"expr\": …}, …]}; each expression reads
its document as `$`. Times are in nanoseconds. An evaluation starts with a fresh context and a document that is
converted already; its result is walked to the end. The digest is of the result as JSON with sorted keys,
without blanks, in ASCII.

Example:
  stoker yaql bench cases.json")]
pub(crate) struct Args {
    /// Cases as JSON
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let text = read_text(&args.file)?;
    let file = json::parse(&text.content).map_err(|error| {
        let place = Place::new(&text.origin, text.content.clone(), error.at..error.at + 1);
        Failure::new(Exit::Input, Diagnostic::error(error.message).code("json-syntax").at(place))
    })?;
    let cases = read_cases(&file).map_err(|message| unreadable(&text, &message))?;
    let engine = Engine::default();
    let mut answers = Vec::new();
    for case in &cases {
        let answer = measure(&engine, case).map_err(|error| failed(case, &error))?;
        answers.push((case.name, answer));
    }
    let report = Map::from_strings([
        ("engine", Value::str(format!("stoker {}", env!("CARGO_PKG_VERSION")))),
        ("cases", Value::frozen_dict(Map::from_strings(answers))),
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
    let part = |key: &str| file.as_map().and_then(|map| map.get_str(key));
    let docs = part("docs").and_then(Value::as_map).ok_or("`docs` should be an object")?;
    let cases = part("cases").and_then(Value::as_seq).ok_or("`cases` should be an array")?;
    cases.iter().enumerate().map(|(case_idx, case)| read_case(case, case_idx, docs)).collect()
}

fn read_case<'a>(case: &'a Value, case_idx: usize, docs: &'a Map) -> Result<Case<'a>, String> {
    let text = |key: &str| {
        let value = case.as_map().and_then(|map| map.get_str(key)).and_then(Value::as_str);
        value.ok_or_else(|| format!("case {} needs a text under `{key}`", case_idx + 1))
    };
    let (name, doc, source) = (text("name")?, text("doc")?, text("expr")?);
    let document =
        docs.get_str(doc).ok_or_else(|| format!("case `{name}` names the unknown document `{doc}`"))?;
    Ok(Case { name, document, source })
}

fn unreadable(text: &Text, message: &str) -> Failure {
    Failure::input(format!("`{}` is no file of cases: {message}", text.origin))
}

fn failed(case: &Case<'_>, error: &Error) -> Failure {
    let diagnostic = Diagnostic::error(format!("case `{}` failed: {}", case.name, error.message));
    let span = error.span.unwrap_or_default();
    let place = Place::new("expression", case.source, span.start as usize..span.end as usize);
    Failure::new(Exit::Failed, diagnostic.code(error.class.name()).at(place).help(error.help.clone()))
}

fn measure(engine: &Engine, case: &Case<'_>) -> stoker_yaql::Result<Value> {
    let expression = engine.compile(case.source)?;
    let result = evaluate(&expression, case.document)?;
    let parse_ns = least_ns(|| (), |()| engine.compile(black_box(case.source)));
    // A compiled expression learns from its first evaluation (which overloads its calls can mean,
    // where its keys lie), so each timed evaluation gets one that has never run.
    let eval_ns = least_ns(
        || engine.compile(case.source),
        |expression| {
            let result = expression.as_ref().ok().map(|known| evaluate(black_box(known), case.document));
            (result, expression)
        },
    );
    let answer = Map::from_strings([
        ("parse_ns", Value::Int(parse_ns)),
        ("eval_ns", Value::Int(eval_ns)),
        ("sha256", Value::str(digest(&result)?)),
    ]);
    Ok(Value::frozen_dict(answer))
}

/// One evaluation with nothing left from another but the compiled expression.
fn evaluate(expression: &Expression, document: &Value) -> stoker_yaql::Result<Value> {
    expression.run(Input { data: document.clone(), ..Input::default() })
}

fn digest(value: &Value) -> stoker_yaql::Result<String> {
    let options = WriteOptions { sort_keys: true, compact: true, ..WriteOptions::default() };
    let hash = Sha256::digest(json::write(value, &options)?);
    let mut text = String::new();
    for byte in hash {
        _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Processor time for one measurement, unless fewer than [`ROUNDS_MIN`] rounds fit.
const BUDGET_NS: i64 = 80_000_000;
const ROUNDS_MIN: u32 = 5;
/// Reading the clock takes a good part of a microsecond, so short calls are timed in batches of this length.
const BATCH_NS: i64 = 50_000;
const BATCH_CALLS_MAX: usize = 1_024;

/// The least processor time of a call. What the call takes is made, and what it returns is let go
/// of, outside the timed part.
fn least_ns<I, T>(mut prepare: impl FnMut() -> I, mut call: impl FnMut(I) -> T) -> i64 {
    let mut batch = |calls| timed_ns(calls, &mut prepare, &mut call);
    // How many calls make a batch that is long against a look at the clock. The first calls tell
    // nothing: they find cold caches.
    let mut calls = 1;
    while calls < BATCH_CALLS_MAX && batch(calls) < BATCH_NS {
        calls *= 2;
    }
    let (mut least, mut spent, mut rounds) = (i64::MAX, 0, 0);
    while rounds < ROUNDS_MIN || spent < BUDGET_NS {
        let took_ns = batch(calls);
        spent += took_ns;
        rounds += 1;
        least = least.min(took_ns / calls as i64);
    }
    least.max(1)
}

fn timed_ns<I, T>(calls: usize, prepare: &mut impl FnMut() -> I, call: &mut impl FnMut(I) -> T) -> i64 {
    let inputs: Vec<I> = (0..calls).map(|_| prepare()).collect();
    let mut results = Vec::with_capacity(calls);
    let started = processor_ns();
    for input in inputs {
        results.push(call(input));
    }
    let took = processor_ns() - started;
    drop(black_box(results));
    took
}

/// Processor time of this thread. Linux has this clock always.
fn processor_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}
