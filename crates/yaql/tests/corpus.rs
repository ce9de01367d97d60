//! Compares with recorded results of the Python reference, if the corpus is available next to the project.
//!
//! `STOKER_CORPUS=regex cargo test --test language corpus` runs only cases whose ID starts with `regex`.

use stoker_testenv::shared_data;

use stoker_yaql::json::{WriteOptions, parse, write};
use stoker_yaql::protocol::Responder;
use stoker_yaql::{FixedHost, Limits, Value};

#[test]
#[expect(clippy::disallowed_methods, reason = "the cases are selected by an environment variable")]
fn results_match_the_recorded_corpus() {
    let path = shared_data("yaql/corpus.jsonl").unwrap_or_default();
    let Ok(corpus) = std::fs::read_to_string(path) else { return };
    let id_prefix = std::env::var("STOKER_CORPUS").unwrap_or_default();
    let host = FixedHost { now_micros: 1_700_000_000_000_000, random_bits: 0x9E37_79B9_7F4A_7C15 };
    let mut responder = Responder::new(&host, Limits::default());
    let (mut problems, mut message_differences, mut count) = (Vec::new(), Vec::new(), 0);
    for line in corpus.lines() {
        let request = parse(line).expect("corpus line is JSON");
        let request = request.as_map().expect("case is an object");
        let text = |key: &str| request.get_str(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !text("id").starts_with(&id_prefix) {
            continue;
        }
        count += 1;
        let answer = parse(&responder.respond(line)).expect("response is JSON");
        let answer = answer.as_map().expect("response is an object");
        let expected = request.get_str("want").and_then(Value::as_map).expect("case has an expected result");
        let json = |value: Option<&Value>| {
            value.map(|value| {
                write(value, &WriteOptions { ascii: false, ..WriteOptions::default() }).unwrap_or_default()
            })
        };
        if json(answer.get_str("ok")) != json(expected.get_str("ok"))
            || json(answer.get_str("err")) != json(expected.get_str("err"))
        {
            problems.push(format!(
                "{} `{}`\n    want {}\n    got  {}",
                text("id"),
                text("expr"),
                json(Some(&Value::FrozenDict(expected.clone()))).unwrap_or_default(),
                json(Some(&Value::FrozenDict(answer.clone()))).unwrap_or_default(),
            ));
        } else if json(answer.get_str("msg")) != json(expected.get_str("msg")) {
            message_differences.push(format!(
                "{}: want {:?} got {:?}",
                text("id"),
                json(expected.get_str("msg")),
                json(answer.get_str("msg"))
            ));
        }
    }
    if std::env::var_os("STOKER_CORPUS_WORDING").is_some() {
        eprintln!("{}", message_differences.join("\n"));
    }
    assert!(problems.is_empty(), "{} of {count} differ:\n{}", problems.len(), problems.join("\n"));
}
