//! Evaluation of examples and comparison with their expected results.

use std::collections::BTreeSet;
use std::sync::Arc;

use stoker_diagnostics::Diagnostic;
use stoker_yaql::eval::suggest::closest_name;
use stoker_yaql::json::{self, InputStyle, WriteOptions};
use stoker_yaql::lint::{Outline, outline};
use stoker_yaql::{Engine, Error, ErrorClass, Expression, Input, Library, Limits, Value};

use crate::HelperFile;
use crate::check::{Analysis, expression_problem, unknown_calls};
use crate::codes;
use crate::definition::{Definition, Example, Expected};

/// Limits for an example, far above the needs of a useful one, so that an endless example cannot block
/// loading.
const LIMITS: Limits = Limits { steps: 5_000_000, depth: 3_000, memory: 256 << 20 };

pub(crate) fn check(
    files: &[HelperFile<'_>],
    definitions: &[Definition],
    analysis: &Analysis,
    library: &Arc<Library>,
    problems: &mut Vec<Diagnostic>,
) {
    let engine = Engine::new(library.clone());
    let broken = broken_names(definitions, analysis, library);
    for definition in definitions {
        let file = &files[definition.file_idx];
        for example in &definition.examples {
            problems.extend(check_example(file, example, &engine, &broken));
        }
    }
}

/// Returns the names of helpers that are invalid or call an invalid helper. Failures of their examples are
/// not reported, because they follow from problems that are reported already.
fn broken_names(definitions: &[Definition], analysis: &Analysis, library: &Library) -> BTreeSet<String> {
    let calls_unknown = |outline: &Outline| {
        outline.calls.iter().any(|call| {
            let is_known =
                library.get(&call.name).is_some_and(|entry| !entry.layers(call.is_method).is_empty());
            !is_known && !outline.defined_functions.contains(&call.name) && !outline.has_computed_names
        })
    };
    let mut broken = BTreeSet::new();
    loop {
        let calls_broken = |outline: &Outline| outline.calls.iter().any(|call| broken.contains(&call.name));
        let next: BTreeSet<String> = definitions
            .iter()
            .zip(&analysis.outlines)
            .filter(|(definition, outline)| {
                let is_callable = |outline: &Outline| !calls_unknown(outline) && !calls_broken(outline);
                !definition.is_valid || !outline.as_ref().is_some_and(is_callable)
            })
            .map(|(definition, _)| definition.name.to_string())
            .collect();
        if next == broken {
            return next;
        }
        broken = next;
    }
}

fn check_example(
    file: &HelperFile<'_>,
    example: &Example,
    engine: &Engine,
    broken: &BTreeSet<String>,
) -> Vec<Diagnostic> {
    if let Expected::Error(class, span) = &example.expected {
        let names = || ErrorClass::ALL.iter().map(|class| class.name());
        if !names().any(|name| name == class) {
            let help = closest_name(class, names()).map(|best| format!("did you mean `{best}`?"));
            let message = format!("unknown error class `{class}`");
            return vec![
                Diagnostic::error(codes::EXAMPLE, message).in_file(file.name).at(*span).help_if(help),
            ];
        }
    }
    let compiled = engine.compile(example.expression.as_str().unwrap_or_default());
    if let Ok(expression) = &compiled {
        let outline = outline(&expression.program().tree);
        if outline.calls.iter().any(|call| broken.contains(&call.name)) {
            return Vec::new();
        }
        if matches!(example.expected, Expected::Result(..)) {
            let unknown = unknown_calls(file, &example.expression, &outline, engine.library());
            if !unknown.is_empty() {
                return unknown;
            }
        }
    }
    compare(file, example, compiled.and_then(|expression| run(&expression, example))).into_iter().collect()
}

fn run(expression: &Expression, example: &Example) -> stoker_yaql::Result<String> {
    let data = json::decode(example.data.clone(), InputStyle::Converted)?;
    text(&expression.run(Input { data, limits: &LIMITS, ..Input::default() })?)
}

/// Serializes a value for comparison: `1` and `1.0` differ, the order of keys does not matter.
fn text(value: &Value) -> stoker_yaql::Result<String> {
    json::write(value, &WriteOptions { sort_keys: true, ascii: false, ..WriteOptions::default() })
}

fn compare(
    file: &HelperFile<'_>,
    example: &Example,
    actual: stoker_yaql::Result<String>,
) -> Option<Diagnostic> {
    let (span, message, help) = match (&example.expected, actual) {
        (Expected::Result(expected, span), Ok(actual)) => {
            let expected =
                json::decode(expected.clone(), InputStyle::Converted).and_then(|value| text(&value));
            let expected = expected.unwrap_or_else(|error| error.message.clone());
            if expected == actual {
                return None;
            }
            (
                *span,
                format!(
                    "example returned {}, expected {}",
                    quote_truncated(&actual),
                    quote_truncated(&expected)
                ),
                None,
            )
        }
        (Expected::Result(..), Err(error)) => return Some(failure(file, example, &error)),
        (Expected::Error(class, span), Ok(actual)) => (
            *span,
            format!("example returned {}, expected the error `{class}`", quote_truncated(&actual)),
            None,
        ),
        (Expected::Error(class, _), Err(error)) if error.class.name() == class => return None,
        (Expected::Error(class, span), Err(error)) => {
            let message = format!("example failed with `{}`, expected `{class}`", error.class.name());
            (*span, message, Some(error.message.clone()))
        }
    };
    Some(Diagnostic::error(codes::EXAMPLE, message).in_file(file.name).at(span).help_if(help))
}

fn failure(file: &HelperFile<'_>, example: &Example, error: &Error) -> Diagnostic {
    let expression = example.expression.as_str().unwrap_or_default();
    let is_elsewhere = error.source.as_deref().is_some_and(|source| source != expression);
    let mut error_at_example = error.clone();
    if is_elsewhere {
        // The position is inside a helper's body, not in the example, so report the whole example.
        error_at_example.span = None;
    }
    let mut problem = expression_problem(file, &example.expression, &error_at_example, codes::EXAMPLE);
    problem.message = format!("example failed with `{}`: {}", error.class.name(), problem.message);
    problem
}

fn quote_truncated(text: &str) -> String {
    const CHARS_MAX: usize = 120;
    let mut truncated: String = text.chars().take(CHARS_MAX).collect();
    if truncated.len() < text.len() {
        truncated.push('…');
    }
    format!("`{truncated}`")
}
