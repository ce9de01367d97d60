//! Examples are run, and have to be true.

use std::collections::BTreeSet;
use std::sync::Arc;

use stoker_yaql::eval::suggest::closest;
use stoker_yaql::json::{self, InputStyle, WriteOptions};
use stoker_yaql::lint::{Outline, outline};
use stoker_yaql::{Engine, Error, ErrorClass, Expression, Input, Library, Limits, Value};

use crate::HelperFile;
use crate::check::{Checked, expression_problem, unknown_calls};
use crate::definition::{Definition, Example, Wanted};
use crate::problem::{Problem, codes};

/// An example is small; one that is not should not hold anyone up.
const LIMITS: Limits = Limits { steps: 5_000_000, depth: 3_000, memory: 256 << 20 };

pub(crate) fn check(
    files: &[HelperFile<'_>],
    definitions: &[Definition],
    checked: &Checked,
    library: &Arc<Library>,
    problems: &mut Vec<Problem>,
) {
    let engine = Engine::new(library.clone());
    let broken = broken_names(definitions, checked, library);
    for definition in definitions {
        let file = &files[definition.file_idx];
        for example in &definition.examples {
            problems.extend(check_example(file, example, &engine, &broken));
        }
    }
}

/// Helpers that cannot work, because something is wrong with them or with a helper they call. That their examples
/// fail too would be no news.
fn broken_names(definitions: &[Definition], checked: &Checked, library: &Library) -> BTreeSet<String> {
    let calls_unknown = |outline: &Outline| {
        outline.calls.iter().any(|call| {
            let known = library.get(&call.name).is_some_and(|entry| !entry.layers(call.is_method).is_empty());
            !known && !outline.defined.contains(&call.name) && !outline.has_computed_names
        })
    };
    let mut broken = BTreeSet::new();
    loop {
        let calls_broken = |outline: &Outline| outline.calls.iter().any(|call| broken.contains(&call.name));
        let found: BTreeSet<String> = definitions
            .iter()
            .zip(&checked.outlines)
            .filter(|(definition, outline)| {
                let is_fine = |outline: &Outline| !calls_unknown(outline) && !calls_broken(outline);
                !definition.is_sound || !outline.as_ref().is_some_and(is_fine)
            })
            .map(|(definition, _)| definition.name.to_string())
            .collect();
        if found == broken {
            return found;
        }
        broken = found;
    }
}

fn check_example(
    file: &HelperFile<'_>,
    example: &Example,
    engine: &Engine,
    broken: &BTreeSet<String>,
) -> Vec<Problem> {
    if let Wanted::Error(class, span) = &example.wanted {
        let names = || ErrorClass::ALL.iter().map(|class| class.name());
        if !names().any(|name| name == class) {
            let help = closest(class, names()).map(|best| format!("did you mean `{best}`?"));
            let message = format!("`{class}` is no class of errors");
            return vec![Problem::error(file.name, *span, codes::EXAMPLE, message).help(help)];
        }
    }
    let compiled = engine.compile(example.expression.as_str().unwrap_or_default());
    if let Ok(expression) = &compiled {
        let outline = outline(&expression.program().tree);
        if outline.calls.iter().any(|call| broken.contains(&call.name)) {
            return Vec::new();
        }
        if matches!(example.wanted, Wanted::Result(..)) {
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

/// Values are compared as text: `1` and `1.0` differ, the order of keys is no matter.
fn text(value: &Value) -> stoker_yaql::Result<String> {
    json::write(value, &WriteOptions { sort_keys: true, ascii: false, ..WriteOptions::default() })
}

fn compare(file: &HelperFile<'_>, example: &Example, got: stoker_yaql::Result<String>) -> Option<Problem> {
    let (span, message, help) = match (&example.wanted, got) {
        (Wanted::Result(wanted, span), Ok(got)) => {
            let wanted = json::decode(wanted.clone(), InputStyle::Converted).and_then(|value| text(&value));
            let wanted = wanted.unwrap_or_else(|error| error.message.clone());
            if wanted == got {
                return None;
            }
            (*span, format!("the example gives {}, not {}", cut(&got), cut(&wanted)), None)
        }
        (Wanted::Result(..), Err(error)) => return Some(failed(file, example, &error)),
        (Wanted::Error(class, span), Ok(got)) => {
            (*span, format!("the example gives {} instead of failing with `{class}`", cut(&got)), None)
        }
        (Wanted::Error(class, _), Err(error)) if error.class.name() == class => return None,
        (Wanted::Error(class, span), Err(error)) => {
            let message = format!("the example fails with `{}`, not `{class}`", error.class.name());
            (*span, message, Some(error.message.clone()))
        }
    };
    Some(Problem::error(file.name, span, codes::EXAMPLE, message).help(help))
}

fn failed(file: &HelperFile<'_>, example: &Example, error: &Error) -> Problem {
    let own = example.expression.as_str().unwrap_or_default();
    let is_elsewhere = error.source.as_deref().is_some_and(|source| source != own);
    let mut shown = error.clone();
    if is_elsewhere {
        // The place is in a body; the example as a whole is what its author looks at.
        shown.span = None;
    }
    let mut problem = expression_problem(file, &example.expression, &shown, codes::EXAMPLE);
    problem.message = format!("the example fails with `{}`: {}", error.class.name(), problem.message);
    problem
}

fn cut(text: &str) -> String {
    const CHARS_MAX: usize = 120;
    let mut shown: String = text.chars().take(CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}
