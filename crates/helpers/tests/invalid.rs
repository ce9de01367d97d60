//! Snapshots of the problems reported for invalid helper files.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod rendering;

use insta::assert_snapshot;
use rendering::{load_all, problems, problems_of};

#[test]
fn invalid_yaml() {
    assert_snapshot!(problems("functions:\n  - name: [a\n  - b: }\n"));
}

#[test]
fn wrong_root_type() {
    assert_snapshot!(
        [problems("- a\n"), problems("42\n"), problems("functions: 5\n"), problems("functions:\n  - a\n")]
            .concat()
    );
}

#[test]
fn empty_file_and_multiple_documents() {
    let empty = problems("# only a comment\n");
    assert_snapshot!([empty, problems("functions: []\n---\nfunctions: []\n")].concat());
}

#[test]
fn unknown_and_missing_keys() {
    assert_snapshot!(problems(
        "\
function: []
functions:
  - nam: a
    boddy: $
    colour: red
  - name: b
    exampels: []
"
    ));
}

#[test]
fn duplicate_key() {
    assert_snapshot!(problems("functions:\n  - name: a\n    body: '1'\n    body: '2'\n"));
}

#[test]
fn wrong_value_types() {
    assert_snapshot!(problems(
        "\
functions:
  - {name: a, body: 5}
  - {name: b, body: [x]}
  - {name: c, body: ''}
  - {name: d, body: '1', doc: [x], style: prefix, override: maybe, parameters: x, examples: y}
  - {name: 7, body: '1'}
"
    ));
}

#[test]
fn invalid_function_names() {
    assert_snapshot!(problems(
        "\
functions:
  - {name: my_vip, body: '1'}
  - {name: my-vip, body: '1'}
  - {name: Vip, body: '1'}
  - {name: not, body: '1'}
  - {name: 2nd, body: '1'}
  - {name: '#operator_+', body: '1'}
"
    ));
}

#[test]
fn duplicate_functions() {
    let first = "functions:\n  - {name: vip, body: '1'}\n  - {name: vip, body: '2'}\n";
    let second = "functions:\n  - {name: vip, body: '3'}\n";
    assert_snapshot!(problems_of(&[("a.yaml", first), ("b.yaml", second)]));
}

#[test]
fn library_name_conflicts() {
    assert_snapshot!(problems(
        "\
functions:
  - {name: len, body: '1'}
  - {name: where, body: '1', override: true}
  - {name: newcomer, body: '1', override: true, doc: There is no other.}
"
    ));
}

#[test]
fn invalid_parameters() {
    assert_snapshot!(problems(
        "\
functions:
  - name: a
    body: $x
    parameters:
      - x
      - $y
      - 1z
      - {type: string}
      - {name: t, type: strin}
      - {name: u, type: lambda}
      - {name: v, type: int, default: text}
      - {name: x, default: 1}
      - {name: w, kind: int}
      - [q]
  - name: b
    body: $p + $q
    parameters:
      - {name: p, default: 1}
      - q
  - {name: c, body: '1', style: method}
"
    ));
}

#[test]
fn invalid_bodies() {
    assert_snapshot!(problems(
        r#"
functions:
  - name: plain
    body: 1 + + # here
  - name: singly
    body: 'concat(''it'', )  ] 5'
  - name: double
    body: "'a\tb' ~ 2"
  - name: literal
    body: |
      [1, 2].where(
        $ >
      )
  - name: folded
    body: >-
      1 +
      2 + )
  - name: end
    body: 'len('
"#
    ));
}

#[test]
fn unknown_calls() {
    assert_snapshot!(problems(
        r"
functions:
  - name: first1
    parameters: [list]
    body: $list.frist() + lenn($list) + where($list, true) + firts1([])
  - name: first2
    parameters: [list]
    body: $list.first1()
  - name: first3
    body: def(two, 2) -> two() + tow()
  - name: first4
    body: |
      [1, 2]
        .selekt($)
        .first()
"
    ));
}

#[test]
fn unbound_variables_and_unused_parameters() {
    assert_snapshot!(problems(
        "\
functions:
  - name: a
    parameters: [document, network]
    body: $documnet.x + $network.y
  - name: b
    parameters: [first, second]
    body: let(x => $) -> $x
"
    ));
}

#[test]
fn failing_examples() {
    assert_snapshot!(problems(
        "\
functions:
  - name: double
    parameters: [x]
    body: $x * 2
    examples:
      - {expression: double(2), result: 5}
      - {expression: double(2), result: 4.0}
      - {expression: 'double([1])', error: KeyError}
      - {expression: double(2), error: KeyError}
      - {expression: double(2), error: KeyEror}
      - {expression: double('a') + 1, result: 2}
      - {expression: double(, result: 2}
      - {expression: doubel(1), result: 2}
      - {expression: double(1)}
      - {expression: double(1), result: 2, error: KeyError}
      - {result: 2}
      - double(1)
      - {expression: '$.a', data: {b: 1}, result: 1}
"
    ));
}

#[test]
fn failure_inside_a_body_is_reported_at_the_example() {
    assert_snapshot!(problems(
        "\
functions:
  - name: name
    parameters: [x]
    body: $x.name
    examples: [{expression: 'name({nmae => 1})', result: 1}]
"
    ));
}

#[test]
fn examples_of_invalid_helpers_are_not_reported() {
    assert_snapshot!(problems(
        "\
functions:
  - name: broken
    body: 1 +
  - name: caller
    body: broken() + 1
    examples: [{expression: caller(), result: 2}]
  - name: fine
    body: '1'
    examples: [{expression: fine(), result: 2}, {expression: fine() + caller(), result: 2}]
"
    ));
}

#[test]
fn endless_example_is_limited() {
    let text = "functions:\n  - {name: loop, body: loop(), examples: [{expression: loop(), result: 1}]}\n";
    assert_snapshot!(problems(text));
}

#[test]
fn all_files_are_checked() {
    let bad = "functions: [\n";
    let wrong = "functions:\n  - {name: a, body: nothing()}\n";
    assert_snapshot!(problems_of(&[("bad.yaml", bad), ("wrong.yaml", wrong)]));
}

#[test]
fn hostile_files_are_rejected() {
    let deep = format!("functions: {}\n", "[".repeat(5000));
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n\
                f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\nfunctions: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    let nested =
        format!("functions:\n  - {{name: a, body: \"{}1{}\"}}\n", "(".repeat(3000), ")".repeat(3000));
    for text in [deep.as_str(), bomb, &nested] {
        assert!(load_all(&[("x.yaml", text)]).library.is_none());
    }
}
