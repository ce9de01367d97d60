//! Checks that every function of the library is documented and that its examples are correct.

use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::library::{Function, Purity};
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::{Engine, Input, Options, Value};

/// Returns the result of an expression in the form used by examples: JSON, or the error class.
fn evaluate(engine: &Engine, expression: &str, options: &Options) -> String {
    let result = engine.compile(expression).and_then(|expression| {
        let value = expression.run(Input { data: Value::Null, options, ..Input::default() })?;
        let tuples_as_arrays = options.convert_tuples_to_lists;
        write(&value, &WriteOptions { ascii: false, tuples_as_arrays, ..WriteOptions::default() })
    });
    match result {
        Ok(json) => json,
        Err(error) => error.class.name().to_owned(),
    }
}

fn check(engine: &Engine, functions: &[std::sync::Arc<dyn Function>], options: &Options) {
    let mut problems = Vec::new();
    for function in functions {
        let doc = function.doc();
        let name = &function.signatures()[0];
        // Functions that only gain a call style have their examples in the standard library.
        let is_extension = doc.module == "legacy" && doc.examples.is_empty();
        if doc.text.is_empty() || (doc.examples.is_empty() && !is_extension) {
            problems.push(format!("{name}: documentation text or example is missing"));
        }
        if doc.purity == Purity::Impure {
            continue;
        }
        for example in doc.examples.iter() {
            let got = evaluate(engine, example.expression, options);
            if got != example.result {
                problems.push(format!(
                    "{}: `{}` returns {got}, expected {}",
                    doc.module, example.expression, example.result
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn standard_library_examples_are_correct() {
    let engine = Engine::default();
    check(&engine, engine.library().functions(), &Options::default());
}

#[test]
fn delegate_examples_are_correct() {
    let standard = Engine::default().library().functions().len();
    let engine = Engine::with_dialect(true, Legacy::Off);
    check(&engine, &engine.library().functions()[standard..], &Options::default());
}

#[test]
fn legacy_examples_are_correct() {
    let standard = Engine::default().library().functions().len();
    let engine = Engine::with_dialect(false, Legacy::Full);
    let options = Options { convert_tuples_to_lists: false, iterable_dicts: true, ..Options::default() };
    check(&engine, &engine.library().functions()[standard..], &options);
}
