//! Recorded answers of the Python reference, where they lie beside the project.
//!
//! `STOKER_CORPUS=regex cargo test --test corpus` looks only at cases whose id begins so.

use std::path::Path;

use stoker_yaql::json::{WriteOptions, parse, write};
use stoker_yaql::protocol::Responder;
use stoker_yaql::{FixedHost, Limits, Value};

#[test]
#[expect(clippy::disallowed_methods, reason = "what to look at is said from outside")]
fn recorded_answers_are_given() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/yaql/corpus.jsonl");
    let Ok(corpus) = std::fs::read_to_string(path) else { return };
    let only = std::env::var("STOKER_CORPUS").unwrap_or_default();
    let host = FixedHost { now_micros: 1_700_000_000_000_000, random_bits: 0x9E37_79B9_7F4A_7C15 };
    let mut responder = Responder::new(&host, Limits::default());
    let (mut problems, mut wordings, mut count) = (Vec::new(), Vec::new(), 0);
    for line in corpus.lines() {
        let request = parse(line).expect("the corpus is JSON");
        let request = request.as_map().expect("a case is an object");
        let text = |key: &str| request.get_str(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !text("id").starts_with(&only) {
            continue;
        }
        count += 1;
        let answer = parse(&responder.answer(line)).expect("an answer is JSON");
        let answer = answer.as_map().expect("an answer is an object");
        let want = request.get_str("want").and_then(Value::as_map).expect("a case has an answer");
        let shown = |value: Option<&Value>| {
            value.map(|value| {
                write(value, &WriteOptions { ascii: false, ..WriteOptions::default() }).unwrap_or_default()
            })
        };
        if shown(answer.get_str("ok")) != shown(want.get_str("ok"))
            || shown(answer.get_str("err")) != shown(want.get_str("err"))
        {
            problems.push(format!(
                "{} `{}`\n    want {}\n    got  {}",
                text("id"),
                text("expr"),
                shown(Some(&Value::FrozenDict(want.clone()))).unwrap_or_default(),
                shown(Some(&Value::FrozenDict(answer.clone()))).unwrap_or_default(),
            ));
        } else if shown(answer.get_str("msg")) != shown(want.get_str("msg")) {
            wordings.push(format!(
                "{}: want {:?} got {:?}",
                text("id"),
                shown(want.get_str("msg")),
                shown(answer.get_str("msg"))
            ));
        }
    }
    if std::env::var_os("STOKER_CORPUS_WORDING").is_some() {
        eprintln!("{}", wordings.join("\n"));
    }
    assert!(problems.is_empty(), "{} of {count} differ:\n{}", problems.len(), problems.join("\n"));
}
