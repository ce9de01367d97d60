//! Hostile input: every case must end soon, without a crash, with a value or an error.

#![expect(clippy::disallowed_methods, reason = "measures the duration of each case")]

use std::time::{Duration, Instant};

use stoker_yaql::json::{WriteOptions, parse as parse_json, write};
use stoker_yaql::library::{Param, ParamType, Signature, Style};
use stoker_yaql::value::{KindSet, ValueKind};
use stoker_yaql::{Engine, Error, Input, Library, Limits, Options, Value};

/// Upper bound for a case, with a margin for unoptimized builds on a busy machine.
const LONG: Duration = Duration::from_mins(1);

const LIMITS: Limits = Limits { steps: 1_000_000, depth: 3_000, memory: 64 << 20 };
/// Limits for calls that exhaust any step limit.
const SMALL_LIMITS: Limits = Limits { steps: 30_000, depth: 3_000, memory: 64 << 20 };

/// Evaluates an expression and serializes the result, on a thread with the default stack size.
fn run(text: &str, data: &str, options: &Options) -> Result<String, Error> {
    run_within(&LIMITS, text, data, options)
}

fn run_within(limits: &Limits, text: &str, data: &str, options: &Options) -> Result<String, Error> {
    let limits = limits.clone();
    let (text, data, options) = (text.to_owned(), data.to_owned(), options.clone());
    let started = Instant::now();
    let excerpt = text.chars().take(80).collect::<String>();
    let work = move || -> Result<String, Error> {
        let data = parse_json(&data).map_err(|error| Error::value(error.to_string()))?;
        let expression = Engine::with_dialect(true, stoker_yaql::stdlib::Legacy::Off)
            .compile(&text)
            .map_err(|error| *error)?;
        let input = Input { data, limits: &limits, options: &options, ..Input::default() };
        let value = expression.run(input).map_err(|error| *error)?;
        let options = WriteOptions { bytes_max: 1 << 20, ..WriteOptions::default() };
        write(&value, &options).map_err(|error| *error)
    };
    let result = std::thread::spawn(work).join().unwrap_or_else(|_| panic!("`{excerpt}` panics"));
    assert!(started.elapsed() < LONG, "`{excerpt}` takes {:?}", started.elapsed());
    result
}

fn class(text: &str) -> &'static str {
    match run(text, "null", &Options::default()) {
        Ok(_) => "ok",
        Err(error) => error.class.name(),
    }
}

const MANY: usize = 100_000;

#[test]
fn deep_expressions_are_rejected() {
    let texts = [
        format!("{}1{}", "(".repeat(MANY), ")".repeat(MANY)),
        "(".repeat(MANY),
        "[".repeat(MANY),
        format!("{}{}", "[".repeat(MANY), "]".repeat(MANY)),
        format!("{}1{}", "{a => ".repeat(MANY), "}".repeat(MANY)),
        format!("${}", ".a".repeat(MANY)),
        format!("${}", "?.a".repeat(MANY)),
        format!("${}", ".a()".repeat(MANY)),
        format!("${}", "[0]".repeat(MANY)),
        format!("${}", "(1)".repeat(MANY)),
        format!("1{}", " + 1".repeat(MANY)),
        format!("1{}", " and 1".repeat(MANY)),
        format!("1{}", " -> 1".repeat(MANY)),
        format!("{}1", "not ".repeat(MANY)),
        format!("{}1", "-".repeat(MANY)),
        format!("{}1{}", "f(".repeat(MANY), ")".repeat(MANY)),
        format!("{}1{}", "f(a => ".repeat(MANY), ")".repeat(MANY)),
        format!("1{}", " * -1".repeat(MANY)),
        format!("$.{}", "$.".repeat(MANY)),
    ];
    for text in &texts {
        let error = run(text, "null", &Options::default()).unwrap_err();
        let expected = ["RecursionError", "YaqlGrammarException"];
        assert!(expected.contains(&error.class.name()), "{}: {error}", &text[..20]);
    }
}

#[test]
fn wide_expressions_are_accepted() {
    let list = format!("[{}].len()", vec!["1"; MANY].join(", "));
    assert_eq!(run(&list, "null", &Options::default()).unwrap(), MANY.to_string());
    let map = format!("{{{}}}.len()", (0..MANY).map(|n| format!("{n} => 1")).collect::<Vec<_>>().join(", "));
    assert_eq!(run(&map, "null", &Options::default()).unwrap(), MANY.to_string());
    let text = format!("'{}'.len()", "x".repeat(1 << 20));
    assert_eq!(run(&text, "null", &Options::default()).unwrap(), (1 << 20).to_string());
}

#[test]
fn deep_data_is_rejected_or_processed() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let document = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(run("$", &document(MANY), &Options::default()).is_err());
        for depth in [10, 100, 400, 499] {
            let document = document(depth);
            for text in ["$", "str($).len()", "$ = $", "[$, $].distinct()", "set([$]).len()", "[$].flatten()"]
            {
                let result = run(text, &document, &Options::default());
                assert!(result.is_ok(), "{text} at {depth}: {:?}", result.err());
            }
        }
    }
}

#[test]
fn value_nesting_is_bounded() {
    for text in [
        "range(100000).aggregate([$1], 1)",
        "range(100000).aggregate({a => $1}, 1)",
        "range(100000).aggregate(set($1), 1)",
        "range(100000).aggregate([$1].select($), 1)",
        "range(100000).aggregate($1.select($), [1])",
        "range(100000).aggregate($1.where(true), [1])",
        "range(100000).aggregate($1 + [1].select($), [1]).count()",
        "range(100000).aggregate($1.orderBy($), [1])",
        "range(100000).aggregate(let(k => $1), 1)",
        "range(100000).aggregate({a => $1}.values(), 1)",
        "range(100000).aggregate({a => $1}.items(), 1)",
        "range(100000).aggregate(lambda($1), 1)",
        "def(f, f($ + 1)) -> f(0)",
        "def(f, [f($ + 1)]) -> f(0)",
        "def(f, [1].select(f($))) -> f(0)",
        "def('#operator_+', $1 + $2) -> 1 + 1",
        "def(str, str($)) -> [1].join('')",
        "generateMany([], [[$]])",
        "let(f => lambda($)) -> range(100000).aggregate(lambda($1), $f)",
    ] {
        let options = Options { limit_iterators: -1, ..Options::default() };
        let result = run(text, "null", &options);
        assert!(result.is_err(), "{text}: {:?}", result.map(|text| text.len()));
    }
}

#[test]
fn shared_subvalues_do_not_multiply_work() {
    let twice = "range(60).aggregate([$1, $1], [1])";
    for text in [
        twice.to_owned(),
        format!("str({twice})"),
        format!("{twice} = {twice}"),
        format!("{twice} != {twice}.append(1)"),
        format!("set({twice}, {twice}).len()"),
        format!("[{twice}, {twice}].distinct().count()"),
        format!("{{{twice} => 1}}.len()"),
        format!("{twice} in [{twice}]"),
        format!("{twice}.flatten().count()"),
        format!("{twice}.flatten().first()"),
        format!("[{twice}].join('')"),
        format!("[1].groupBy({twice})"),
        "let(m => range(60).aggregate({a => $1, b => $1}, {})) -> $m.mergeWith($m)".to_owned(),
        "range(60).aggregate({a => $1, b => $1}, 1)".to_owned(),
        "range(60).aggregate(set($1, [$1]), 1)".to_owned(),
        "range(60).aggregate($1 + $1, [1]).len()".to_owned(),
        "range(60).aggregate($1 + $1, a).len()".to_owned(),
        "range(60).aggregate($1.concat($1), [1]).count()".to_owned(),
        "range(60).aggregate($1 * $1, 3)".to_owned(),
        format!("{twice}.nosuch()"),
        format!("{twice}.len(1)"),
        format!("call(nosuch, [], {{}}, {twice})"),
    ] {
        _ = run(&text, "null", &Options { limit_iterators: -1, ..Options::default() });
        _ = run(&text, "null", &Options::default());
    }
}

#[test]
fn number_size_is_bounded() {
    for text in [
        "pow(10, 1000000000)",
        "pow(2, pow(2, 100))",
        "pow(pow(10, 100000), 100000)",
        "range(100).aggregate($1 * $1, 12345678901234567890)",
        "range(100).aggregate(pow($1, 9), 9)",
        "shiftBitsLeft(1, 9223372036854775807)",
        "shiftBitsLeft(pow(10, 100), 99999999999)",
        "'x' * 1000000000",
        "1000000000 * 'x'",
        "[1] * 1000000000",
        "[] * 1000000000000",
        "'x' * pow(10, 30)",
        "range(100).aggregate($1 * 1000, x)",
        "x.repeat().join('').len()",
        "range(9223372036854775807).len()",
        "range(9223372036854775807).toList()",
        "range(0, -9223372036854775807, -1).len()",
        "('a' * 1000000).replace('', 'b' * 1000000)",
        "('a' * 1000000).replace(a, 'b' * 1000000)",
        "('a' * 100000).replace({a => 'b' * 100000})",
        "regex('').replace('a' * 100000, 'b' * 100000)",
        "regex('a').replaceBy('a' * 100000, 'b' * 100000)",
        "regex('(a)').replace('a' * 100000, `\\1\\1\\1\\1\\1\\1\\1\\1` * 1000)",
        "('ab' * 100000).split(a).select(x * 100000).join('')",
        "('a' * 100000).toCharArray().join('b' * 100000)",
        "datetime(2017, 1, 1).format('%c' * 10000000)",
        "round(1, -pow(10, 30))",
        "round(pow(10, 30), -1000000000)",
        "timespan(days => pow(10, 30))",
        "datetime(pow(10, 300))",
        "int('9' * 100000)",
        "float('9' * 100000)",
        "pow(3, pow(10, 9), pow(10, 9))",
        "pow(12345, pow(10, 30), pow(10, 5000))",
        "pow(10, 100000) / 3",
        "pow(10, 100000) mod 7",
        "str(pow(10, 100000))",
        "hex(pow(10, 100000)).len()",
        "pow(10, 100000) = pow(10, 100000) + 1",
        "float(pow(10, 100000))",
        "pow(0.5, pow(10, 300))",
        "('a' * 1000000).escapeRegex()",
        "escapeRegex('.' * 1000000).len()",
    ] {
        class(text);
    }
}

#[test]
fn regex_work_is_bounded() {
    let subjects = ["'a' * 30 + b", "'a' * 3000 + b", "'a' * 100000", "'ab' * 20000", "''"];
    let patterns = [
        "(a+)+$",
        "(a|a)*$",
        "(a|aa)+$",
        "(a*)*b",
        "(.*)(.*)(.*)(.*)x",
        "(?=(a+))a*b\\1",
        "^(([a-z])+.)+[A-Z]$",
        "(a?){30}a{30}",
        "((a*)*)*c",
        "(?:a|b|ab)*c",
        "(\\w+\\s?)*$",
        "a{1000}{1000}",
        "(a{1,100}){1,100}b",
        "(?<=a)+b",
        "(((((((a*)*)*)*)*)*)*)b",
        "(a)(?:\\1)*b",
        "[a-z]*[a-z]*[a-z]*[a-z]*9",
        ".*.*.*.*.*.*=",
    ];
    for pattern in patterns {
        for subject in subjects {
            class(&format!("regex(`{pattern}`).matches({subject})"));
            class(&format!("regex(`{pattern}`).searchAll({subject}).count()"));
        }
        class(&format!("('a' * 500).split(regex(`{pattern}`)).len()"));
        class(&format!("regex(`{pattern}`).replace('a' * 500, x).len()"));
    }
    for open in ["(", "(?:", "[", "(?=", "a|", "(a|", "(?P<a>", "x{1,2}", "(?(1)"] {
        class(&format!("regex(`{}`)", open.repeat(MANY)));
    }
    class(&format!("regex(`{}a{}`).matches(a)", "(".repeat(5000), ")".repeat(5000)));
    class(&format!("regex(`{}`).matches('a' * 1000)", "a?".repeat(20000)));
    class("regex(`a{65535}{65535}`)");
    class("regex(`(?:a{1000}){1000}{1000}`).matches('a' * 1000)");
}

/// Returns an argument for a parameter that makes the function consume as much as possible.
fn argument(name: &str, param: &Param) -> String {
    let fixed = match (name, &*param.name) {
        ("indexOf" | "lastIndexOf" | "contains", _) => Some("-1"),
        ("any" | "indexWhere" | "lastIndexWhere" | "where" | "filter", "predicate") => Some("false"),
        ("unpack", _) => Some("a"),
        (_, "count" | "position" | "index" | "length") => Some("3"),
        _ => None,
    };
    if let Some(fixed) = fixed {
        return fixed.to_owned();
    }
    match param.kind {
        ParamType::Iter(_) => "sequence()".to_owned(),
        ParamType::Pair | ParamType::LazyPair => "a => 1".to_owned(),
        ParamType::Value(kinds) => {
            let has = |kind| kinds.has(kind);
            let texts = [
                (ValueKind::Iterator, "sequence()"),
                (ValueKind::Int, "5"),
                (ValueKind::Str, "'x'"),
                (ValueKind::Tuple, "[1]"),
                (ValueKind::FrozenDict, "{a => 1}"),
                (ValueKind::Set, "set(1)"),
                (ValueKind::Bool, "true"),
            ];
            let text = texts
                .iter()
                .find(|(kind, _)| has(*kind) && (kinds != KindSet::ANY || *kind == ValueKind::Int));
            text.map_or("null", |(_, text)| text).to_owned()
        }
        _ => "true".to_owned(),
    }
}

fn calls_with_infinite_receivers(signature: &Signature) -> Option<Vec<String>> {
    let first = signature.params.first().or(signature.rest.as_ref())?;
    let is_iterable = match first.kind {
        ParamType::Iter(_) => true,
        ParamType::Value(kinds) => kinds.has(ValueKind::Iterator),
        _ => false,
    };
    if !is_iterable {
        return None;
    }
    let required = signature.params.iter().skip(1).filter(|param| param.default.is_none());
    let args: Vec<String> = required.map(|param| argument(&signature.name, param)).collect();
    let receivers = ["sequence(1)", "[1].cycle()", "generate(1, true, $ + 1)", "1.repeat().memorize()"];
    let call = |receiver: &str| {
        if signature.style == Style::Function {
            let args = [vec![receiver.to_owned()], args.clone()].concat();
            format!("{}({})", signature.name, args.join(", "))
        } else {
            format!("{receiver}.{}({})", signature.name, args.join(", "))
        }
    };
    Some(receivers.into_iter().map(call).collect())
}

/// Functions that need only the start of a collection, or do not iterate over it.
const TERMINATING: &[&str] = &[
    // sorted
    "any",
    "assert",
    "bool",
    "defaultIfEmpty",
    "first",
    "isBoolean",
    "isDatetime",
    "isDict",
    "isInteger",
    "isIterable",
    "isList",
    "isNumber",
    "isRegex",
    "isSet",
    "isString",
    "isTimespan",
    "let",
    "limit",
    "single",
    "str",
    "take",
    "with",
    // end sorted
];

#[test]
fn infinite_collections_fail() {
    let library = Library::standard();
    let mut names: Vec<_> = library.names().filter(|(name, _)| !name.starts_with(['#', '*'])).collect();
    names.sort_by_key(|(name, _)| *name);
    let mut count = 0;
    let mut unexpected_results = Vec::new();
    for (name, entry) in names {
        for overload in entry.functions.iter().chain(&entry.methods).flatten() {
            for text in calls_with_infinite_receivers(&overload.signature).into_iter().flatten() {
                count += 1;
                let options = Options { limit_iterators: -1, memory_quota: -1, ..Options::default() };
                let result = run_within(&SMALL_LIMITS, &text, "null", &options);
                if result.is_ok() && !TERMINATING.contains(&name) {
                    unexpected_results.push(format!(
                        "{text}: {}",
                        result.unwrap_or_default().chars().take(60).collect::<String>()
                    ));
                }
                let error = run_within(
                    &SMALL_LIMITS,
                    &text,
                    "null",
                    &Options { limit_iterators: 100, ..Options::default() },
                )
                .err();
                if error.is_none() && !TERMINATING.contains(&name) {
                    unexpected_results.push(format!("{text} succeeds despite the iterator limit"));
                }
            }
        }
    }
    assert!(count > 300, "only {count} calls were made");
    assert!(unexpected_results.is_empty(), "{}", unexpected_results.join("\n"));
}

#[test]
fn null_input_evaluates_to_null() {
    assert_eq!(
        Engine::default().compile("$").unwrap().evaluate(&Value::Null).unwrap().kind(),
        ValueKind::Null
    );
}
