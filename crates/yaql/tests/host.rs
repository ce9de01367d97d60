//! Functions of an embedding program: custom `Function` implementations with unevaluated arguments and
//! another `$`.

use std::borrow::Cow;
use std::sync::Arc;

use stoker_yaql::eval::{Args, Ctx, Cx};
use stoker_yaql::json::parse;
use stoker_yaql::library::{Function, FunctionDoc, Purity};
use stoker_yaql::{Engine, ErrorClass, Library, Result, Value};

/// Reports whether the value of an expression differs between the old and the new document. An error over the
/// old document counts as a difference.
struct Changed {
    old: Value,
}

impl Function for Changed {
    fn signatures(&self) -> Cow<'_, [Cow<'_, str>]> {
        Cow::Borrowed(&[Cow::Borrowed("f changed(expr: lambda)"), Cow::Borrowed("f old(expr: lambda)")])
    }

    fn doc(&self) -> FunctionDoc<'_> {
        FunctionDoc { module: "host", text: "", examples: Cow::Borrowed(&[]), purity: Purity::Pure }
    }

    fn call(&self, overload: usize, cx: &mut Cx<'_>, args: &mut Args<'_>) -> Result<Value> {
        let expr = args.lambda(0);
        let past: Ctx = args.ctx.with_first(self.old.clone())?;
        let old = expr.call_in(cx, &past).and_then(|value| cx.convert(value));
        if overload == 1 {
            return old;
        }
        let new = expr.call0(cx).and_then(|value| cx.convert(value))?;
        Ok(Value::Bool(old.map_or(true, |old| !old.equals(&new))))
    }
}

fn engine(old: &str) -> Engine {
    let changed: Arc<dyn Function> = Arc::new(Changed { old: parse(old).expect("JSON") });
    let library = Library::standard().with_layer([changed], &[]).expect("signatures are valid");
    Engine::new(Arc::new(library))
}

fn check(old: &str, new: &str, expression: &str, expected: &Value) {
    let expression = engine(old).compile(expression).expect("it parses");
    let value = expression.evaluate(&parse(new).expect("JSON")).expect("it has a value");
    assert!(value.equals(expected), "{}: {value:?}", expression.source());
}

#[test]
fn lambda_is_evaluated_over_another_document() {
    let (old, new) = (r#"{"a": {"x": [1, 2]}, "b": 1}"#, r#"{"a": {"x": [1, 2]}, "b": 2}"#);
    check(old, new, "changed($.a)", &Value::Bool(false));
    check(old, new, "changed($.b)", &Value::Bool(true));
    check(old, new, "changed($.a.x.where($ > 1))", &Value::Bool(false));
    check(old, new, "old($.b)", &Value::Int(1));
    check(old, new, "old($.b) + $.b", &Value::Int(3));
}

#[test]
fn lambda_can_access_surrounding_variables() {
    check(r#"{"b": 1}"#, r#"{"b": 2}"#, "let(n => 10) -> old($.b + $n)", &Value::Int(11));
}

#[test]
fn error_over_the_old_document_can_be_handled() {
    check("{}", r#"{"b": 2}"#, "changed($.b)", &Value::Bool(true));
    let expression = engine("{}").compile("old($.b)").expect("it parses");
    let error = expression.evaluate(&Value::Null).expect_err("there is no such key");
    assert_eq!(error.class, ErrorClass::Key);
}

#[test]
fn host_function_signature_appears_in_the_hint() {
    let error = engine("{}").compile("changed()").and_then(|expression| expression.evaluate(&Value::Null));
    let error = error.expect_err("an argument is missing");
    assert_eq!(error.class, ErrorClass::NoMatchingFunction);
    assert!(error.help.is_some_and(|help| help.contains("changed(expr: λ)")));
}
