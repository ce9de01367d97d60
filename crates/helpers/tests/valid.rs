//! Valid helper files and their functions.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod rendering;

use rendering::{load_all, problems};
use stoker_yaql::json::{WriteOptions, write};
use stoker_yaql::library::Purity;
use stoker_yaql::{Engine, Value};

const VIP: &str = "\
functions:
  - name: vip
    parameters:
      - document
      - {name: network, type: string, default: management}
    doc: Address of a virtual IP.
    body: $document.network_metadata.vips.get($network, {}).get(ipaddr)
    examples:
      - expression: \"vip({network_metadata => {vips => {management => {ipaddr => '10.0.0.2'}}}})\"
        result: 10.0.0.2
      - expression: vip({})
        error: KeyError
";

/// Evaluates an expression with the functions of these files.
fn check(files: &[(&str, &str)], expression: &str, expected: &str) {
    let loaded = load_all(files);
    assert_eq!(loaded.problems, []);
    let engine = Engine::new(loaded.library.unwrap());
    let result = engine.compile(expression).and_then(|expression| expression.evaluate(&Value::Null));
    let actual = match result {
        Ok(value) => write(&value, &WriteOptions::default()).unwrap(),
        Err(error) => error.class.name().to_owned(),
    };
    assert_eq!(actual, expected, "{expression}");
}

fn check_one(text: &str, expression: &str, expected: &str) {
    check(&[("a.yaml", text)], expression, expected);
}

#[test]
fn documentation_example_works() {
    assert_eq!(problems(VIP), "");
    check_one(VIP, "vip({network_metadata => {vips => {public => {ipaddr => a}}}}, public)", "\"a\"");
    check_one(VIP, "vip({network_metadata => {vips => {p => {ipaddr => a}}}}, network => p)", "\"a\"");
    check_one(VIP, "vip({}, 5)", "NoMatchingFunctionException");
}

#[test]
fn empty_function_list_is_valid() {
    check_one("functions: []\n", "1", "1");
    check(&[], "1", "1");
}

#[test]
fn style_selects_function_or_method_call() {
    let text = |style: &str| {
        format!("functions:\n  - {{name: twice, style: {style}, parameters: [x], body: $x * 2}}\n")
    };
    check_one(&text("function"), "twice(4)", "8");
    check_one(&text("function"), "4.twice()", "NoMethodRegisteredException");
    check_one(&text("method"), "4.twice()", "8");
    check_one(&text("method"), "twice(4)", "NoFunctionRegisteredException");
    check_one(&text("both"), "twice(4) + 4.twice()", "16");
}

#[test]
fn first_parameter_is_bound_to_dollar() {
    check_one("functions:\n  - {name: two, parameters: [x, y], body: '$ + $y'}\n", "two(1, 2)", "3");
}

#[test]
fn helpers_can_be_mutually_recursive_across_files() {
    let even = "functions:\n  - {name: even, parameters: [n], body: 'switch($n = 0 => true, true => odd($n - 1))'}\n";
    let odd = "functions:\n  - {name: odd, parameters: [n], body: 'switch($n = 0 => false, true => even($n - 1))'}\n";
    check(&[("b.yaml", even), ("a.yaml", odd)], "even(10)", "true");
    check(&[("b.yaml", even), ("a.yaml", odd)], "even(100000)", "RecursionError");
}

#[test]
fn helper_does_not_see_variables_of_its_caller() {
    let text = "functions:\n  - {name: see, body: '[$, $1]'}\n";
    check_one(text, "let(x => 5) -> [7].select(see())", "[[null, null]]");
}

#[test]
fn defaults_can_be_any_value() {
    let text = "\
functions:
  - name: everything
    parameters:
      - {name: a, default: null, type: string}
      - {name: b, default: [1, {c: d}]}
      - {name: e, default: \"it's, (not) simple: = x\"}
      - {name: f, default: 1.5, type: number}
      - {name: g, default: 2017-03-04, type: datetime}
      - {name: h, default: true}
    body: '[$a, $b, $e, $f, $g.year, $h]'
";
    check_one(text, "everything()", r#"[null, [1, {"c": "d"}], "it's, (not) simple: = x", 1.5, 2017, true]"#);
    check_one(
        text,
        "everything(x, f => 2, b => {})",
        r#"["x", {}, "it's, (not) simple: = x", 2, 2017, true]"#,
    );
}

#[test]
fn override_replaces_a_library_function() {
    let text = "functions:\n  - {name: len, override: true, doc: Always seven., parameters: [x], \
                body: 'coalesce(null, $x) * 0 + 7'}\n";
    check_one(text, "len(1)", "7");
    check_one(text, "[1].len()", "NoMethodRegisteredException");
}

#[test]
fn documentation_and_examples_are_available() {
    let loaded = load_all(&[("a.yaml", VIP)]);
    let library = loaded.library.unwrap();
    let doc = library.functions().last().unwrap().doc();
    assert_eq!((doc.module, doc.text, doc.examples.len()), ("helpers", "Address of a virtual IP.", 2));
    assert_eq!(doc.examples[0].result, "\"10.0.0.2\"");
    assert_eq!(doc.purity, Purity::Pure);
    let signature = &library.get("vip").unwrap().functions[0][0].signature;
    assert_eq!(signature.to_string(), "vip(document: any, network: string = 'management')");
}

#[test]
fn impurity_propagates_to_callers() {
    let text = "functions:\n  - {name: a, body: b()}\n  - {name: b, body: now()}\n  - {name: c, body: '1'}\n";
    let loaded = load_all(&[("a.yaml", text)]);
    let engine = Engine::new(loaded.library.unwrap());
    let impure = |source: &str| engine.compile(source).unwrap().reads().impure;
    assert_eq!([impure("a()"), impure("b()"), impure("c()")], [true, true, false]);
}

#[test]
fn body_range_maps_to_file_span() {
    let text = "functions:\n  - name: a\n    body: |\n      1 +\n      missing\n";
    let loaded = load_all(&[("a.yaml", text)]);
    let helper = &loaded.helpers[0];
    let at = helper.body.find("missing").unwrap();
    let span = helper.span_of(text, at..at + 7);
    assert_eq!((span.start.line, span.start.column, span.slice(text)), (5, 7, "missing"));
}
