//! Differential test of the engine against the reference implementation, on randomly generated expressions.
//!
//! `STOKER_YAQL_ORACLE_PYTHON` is a Python interpreter that can import Python YAQL; without it only the
//! recorded regressions run. `STOKER_DIFFERENTIAL_CASES` and `STOKER_DIFFERENTIAL_SEED` select the number of
//! cases and the seed. A failing case is shrunk and printed with both responses. Once it is fixed, add its
//! line to `regressions.jsonl` with the expected response under `want`.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its settings from the environment, and the engine and the reference share one clock"
)]

mod calls;
mod case;
mod compare;
mod focus;
mod generate;
mod known;
mod literals;
mod mutate;
mod normalize;
mod oracle;
mod rng;
mod shrink;
mod table;
mod tree;
mod types;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use stoker_yaql::json::{WriteOptions, parse, write};
use stoker_yaql::protocol::Responder;
use stoker_yaql::stdlib::Legacy;
use stoker_yaql::{Engine, FixedHost, Limits, Value};

use case::{Case, Tables};
use compare::{Difference, difference};
use known::accepted_difference;
use oracle::Oracle;
use table::Table;

const REGRESSIONS: &str = include_str!("regressions.jsonl");
const CASES: u64 = 3000;
const SEED: u64 = 2017;
/// Maximum number of failures to shrink in total and per class; more are rarely useful.
const SHRUNK_MAX: usize = 60;
const SHRUNK_ALIKE_MAX: usize = 4;
/// Maximum share of cases that one row of the documentation explains: one in this many. More would hide defects.
const ACCEPTED_SHARE: usize = 50;
/// Maximum share of cases without a usable response from Python YAQL: one in this many.
const UNCOMPARED_SHARE: usize = 50;

/// Returns a host with the current time, because both sides complete dates without a day from the clock.
fn host() -> FixedHost {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
    FixedHost { now_micros: now, random_bits: 0x9E37_79B9_7F4A_7C15 }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
        Err(_) => otherwise,
    }
}

fn python() -> Option<PathBuf> {
    std::env::var_os("STOKER_YAQL_ORACLE_PYTHON").filter(|path| !path.is_empty()).map(PathBuf::from).or_else(
        || {
            stoker_testenv::record_missing_tool("oracle: STOKER_YAQL_ORACLE_PYTHON is not set");
            None
        },
    )
}

/// Returns the recorded regressions with their expected outcomes.
fn regressions() -> impl Iterator<Item = (&'static str, (String, String))> {
    REGRESSIONS.lines().filter(|line| !line.is_empty()).map(|line| {
        let request = parse(line).expect("regression is JSON");
        let expected = request.as_map().and_then(|map| map.get_str("want").cloned());
        let expected =
            expected.unwrap_or_else(|| panic!("regression has no expected response under `want`: {line}"));
        (line, compare::outcome_of(&expected))
    })
}

#[test]
fn regressions_match_expected_outcomes() {
    let host = host();
    let mut responder = Responder::new(&host, Limits::default());
    let mut problems = Vec::new();
    for (line, expected) in regressions() {
        let ours = responder.respond(line);
        if compare::outcome(&ours) != expected {
            problems.push(format!("{line}\n    ours {ours}"));
        }
    }
    assert!(problems.is_empty(), "{} regressions fail:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn regressions_match_the_reference() {
    let Some(python) = python() else { return };
    let mut oracle = Oracle::start(&python).unwrap_or_else(|error| panic!("{error}"));
    for (line, expected) in regressions() {
        let theirs = oracle.ask(line).expect("reference responds");
        assert!(compare::outcome(&theirs) == expected, "{line}\n    the reference returns {theirs}");
    }
}

/// A documented difference that no longer exists, or exists for another reason, must leave the page.
#[test]
fn documented_differences_exist() {
    let Some(python) = python() else { return };
    let mut oracle = Oracle::start(&python).unwrap_or_else(|error| panic!("{error}"));
    for (row, request) in known::EXAMPLES {
        let parsed = parse(request).expect("example is JSON");
        let expression =
            parsed.as_map().and_then(|map| map.get_str("expr")?.as_str()).expect("an expression");
        let (theirs, ours) = (oracle.ask(request).expect("reference responds"), answer(request));
        let found = difference(&theirs, &ours);
        let accepted = found.and_then(|found| accepted_difference(expression, &theirs, &ours, &found));
        assert_eq!(accepted, Some(*row), "{request}\n    theirs {theirs}\n    ours   {ours}");
    }
}

#[test]
fn generated_expressions_agree_with_the_reference() {
    let Some(python) = python() else { return };
    let (cases, seed) =
        (number("STOKER_DIFFERENTIAL_CASES", CASES), number("STOKER_DIFFERENTIAL_SEED", SEED));
    let started = Instant::now();
    let oracles = [(), ()].map(|()| Oracle::start(&python).unwrap_or_else(|error| panic!("{error}")));
    let mut run = Run::new(cases, seed);
    let mut oracles = run.compare(oracles);
    let summary = run.summary(started.elapsed().as_secs_f64());
    println!("{summary}");
    let report = run.report(&mut oracles[0]);
    assert!(run.failures.is_empty(), "{summary}\n{report}");
    let most_accepted = run.accepted.values().copied().max().unwrap_or(0);
    assert!(most_accepted * ACCEPTED_SHARE <= run.cases.len(), "a row explains too many cases: {summary}");
    let n_uncompared: usize = run.uncompared.values().sum();
    assert!(
        n_uncompared * UNCOMPARED_SHARE <= run.cases.len(),
        "too many cases were not compared: {summary}"
    );
}

struct Run {
    cases: Vec<Case>,
    failures: Vec<(Case, Difference)>,
    agreed: BTreeMap<String, usize>,
    /// Number of accepted differences by row of `docs/yaql-differences.md`.
    accepted: BTreeMap<&'static str, usize>,
    /// Cases without a usable response from Python YAQL, by cause.
    uncompared: BTreeMap<&'static str, usize>,
}

impl Run {
    fn new(count: u64, seed: u64) -> Self {
        let tables = Tables {
            standard: Table::new(),
            delegates: Table::of_dialect(&Engine::with_dialect(true, Legacy::Off)),
            legacy: Table::of_dialect(&Engine::with_dialect(true, Legacy::Full)),
        };
        let cases = (0..count).map(|number| case::generate(seed, number, &tables)).collect();
        Self {
            cases,
            failures: Vec::new(),
            agreed: BTreeMap::new(),
            accepted: BTreeMap::new(),
            uncompared: BTreeMap::new(),
        }
    }

    /// Evaluates all cases on both sides, with one reference process per oracle.
    fn compare(&mut self, mut oracles: [Oracle; 2]) -> [Oracle; 2] {
        let requests: Vec<String> = self.cases.iter().map(Case::request).collect();
        let (first, second) = requests.split_at(requests.len() / 2);
        let [one, two] = &mut oracles;
        let (theirs, ours) = std::thread::scope(|scope| {
            let first = scope.spawn(move || one.ask_all(first));
            let second = scope.spawn(move || two.ask_all(second));
            let ours: Vec<String> = requests.iter().map(|request| answer(request)).collect();
            let theirs = [first, second].map(|thread| thread.join().expect("reader thread does not panic"));
            (theirs.concat(), ours)
        });
        for ((case, theirs), ours) in self.cases.iter().zip(theirs).zip(ours) {
            let Some(theirs) = theirs else {
                *self.uncompared.entry("the reference crashed").or_default() += 1;
                continue;
            };
            match difference(&theirs, &ours) {
                None => *self.agreed.entry(compare::outcome(&theirs).0).or_default() += 1,
                Some(difference) => match accepted_difference(&case.text(), &theirs, &ours, &difference) {
                    Some(row) => *self.accepted.entry(row).or_default() += 1,
                    None if ["Timeout", "MemoryError"].contains(&difference.theirs.as_str()) => {
                        *self.uncompared.entry("the reference exceeded its limits").or_default() += 1;
                    }
                    None if differs(case, &mut oracles[0]).is_none() => {
                        // For example, an order that depends on the addresses of objects.
                        *self.uncompared.entry("the reference is nondeterministic").or_default() += 1;
                    }
                    None => self.failures.push((case.clone(), difference)),
                },
            }
        }
        oracles
    }

    fn summary(&self, seconds: f64) -> String {
        format!(
            "{} cases in {seconds:.1} s: {} differ, agreed {:?}, accepted {:?}, not compared {:?}",
            self.cases.len(),
            self.failures.len(),
            self.agreed,
            self.accepted,
            self.uncompared,
        )
    }

    /// Shrinks the failures and formats one per class.
    fn report(&self, oracle: &mut Oracle) -> String {
        let mut reports = BTreeMap::new();
        let mut alike: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let few = self.failures.iter().filter(|(_, difference)| {
            let count = alike.entry((&difference.theirs, &difference.ours)).or_default();
            *count += 1;
            *count <= SHRUNK_ALIKE_MAX
        });
        for (case, difference) in few.take(SHRUNK_MAX) {
            let small = shrink::shrink(case.clone(), &mut |candidate| {
                differs(candidate, oracle).is_some_and(|candidate| candidate == *difference)
            });
            let request = small.request();
            let theirs = oracle.ask(&request).unwrap_or_default();
            let text = format!("{request}\n    theirs {theirs}\n    ours   {}", answer(&request));
            let names: Vec<String> = words(&small.text());
            reports.entry((difference.theirs.clone(), difference.ours.clone(), names)).or_insert(text);
        }
        reports.into_values().collect::<Vec<_>>().join("\n")
    }
}

/// Returns the tokens of an expression without its literals. Cases with the same tokens usually have the same
/// cause.
fn words(text: &str) -> Vec<String> {
    let parts = mutate::split(text);
    let mut words: Vec<String> =
        parts.into_iter().filter(|part| part.len() > 1 && !part.contains(['\'', '`'])).collect();
    words.sort();
    words
}

fn differs(case: &Case, oracle: &mut Oracle) -> Option<Difference> {
    let request = case.request();
    let theirs = oracle.ask(&request)?;
    let ours = answer(&request);
    let difference = difference(&theirs, &ours)?;
    if accepted_difference(&case.text(), &theirs, &ours, &difference).is_some() {
        None
    } else {
        Some(difference)
    }
}

/// Limits that allow more work than Python YAQL can do within its time limit, and few enough steps to keep
/// the test fast.
const LIMITS: Limits = Limits { steps: 5_000_000, depth: 3_000, memory: 1 << 30 };

fn answer(request: &str) -> String {
    thread_local! {
        static HOST: &'static FixedHost = Box::leak(Box::new(host()));
        static RESPONDER: std::cell::RefCell<Responder<'static>> =
            std::cell::RefCell::new(Responder::new(HOST.with(|host| *host), LIMITS));
    }
    RESPONDER.with_borrow_mut(|responder| responder.respond(request))
}

/// Checks that the JSON parser of the engine, which compares responses, distinguishes numeric types.
#[test]
fn responses_are_compared_by_type() {
    let json = |text: &str| write(&parse(text).unwrap(), &WriteOptions::default()).unwrap();
    assert_eq!(json("[1, 1.0, 1e16, true, \"é\"]"), "[1, 1.0, 1e+16, true, \"\\u00e9\"]");
    assert!(!matches!(parse("1").unwrap(), Value::Float(_)));
}
