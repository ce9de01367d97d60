//! Every function of the library is documented, and its examples are true.

use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::library::{Function, Purity};
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::{Engine, Input, Options, Value};

/// The result of an expression as its example writes it: JSON, or the class of the error.
fn answer(engine: &Engine, expression: &str, options: &Options) -> String {
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
        // Functions that only get another way to be called are shown where they come from.
        let is_extension = doc.module == "legacy" && doc.examples.is_empty();
        if doc.text.is_empty() || (doc.examples.is_empty() && !is_extension) {
            problems.push(format!("{name}: needs a text and an example"));
        }
        if doc.purity == Purity::Impure {
            continue;
        }
        for example in doc.examples.iter() {
            let got = answer(engine, example.expression, options);
            if got != example.result {
                problems.push(format!(
                    "{}: `{}` gives {got}, not {}",
                    doc.module, example.expression, example.result
                ));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn examples_of_the_standard_library_are_true() {
    let engine = Engine::default();
    check(&engine, engine.library().functions(), &Options::default());
}

#[test]
fn examples_of_delegates_are_true() {
    let standard = Engine::default().library().functions().len();
    let engine = Engine::with_dialect(true, Legacy::Off);
    check(&engine, &engine.library().functions()[standard..], &Options::default());
}

#[test]
fn examples_of_the_legacy_library_are_true() {
    let standard = Engine::default().library().functions().len();
    let engine = Engine::with_dialect(false, Legacy::Full);
    let options = Options { convert_tuples_to_lists: false, iterable_dicts: true, ..Options::default() };
    check(&engine, &engine.library().functions()[standard..], &options);
}
