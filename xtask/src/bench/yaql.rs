//! `cargo xtask bench yaql`: Stoker's YAQL engine compared with the reference implementation on the same machine.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process;

use serde_json::Value;

use crate::failure::{Context as _, Failure, Outcome};
use crate::process::capture;
use crate::tools::oracle;
use crate::workspace::{self, Metadata, Profile};

/// A larger set of cases, outside the repository.
const BESIDE: &str = "../shared/data/yaql/bench.json";
const OWN: &str = "xtask/data/bench.json";
const REFERENCE: &str = "xtask/python/bench_reference.py";

const EVAL_RATIO_MIN: f64 = 300.0;
const EVAL_RATIO_MEAN_MIN: f64 = 1500.0;
const PARSE_RATIO_MIN: f64 = 100.0;

pub(super) fn run(file: Option<PathBuf>, report_only: bool) -> Outcome {
    let root = workspace::root();
    let file = file.unwrap_or_else(|| {
        [BESIDE, OWN].map(|path| root.join(path)).into_iter().find(|path| path.is_file()).unwrap_or_default()
    });
    if !file.is_file() {
        return Err(Failure::new(format!("no benchmark cases at `{}`", file.display())));
    }
    let metadata = Metadata::load(&root)?;
    let program = metadata.build_stoker(&root, Profile::Release)?;
    let python = oracle::python(&metadata.target_dir)?;
    let ours = measure(process::Command::new(program).args(["yaql", "bench"]).arg(&file))?;
    let reference = measure(process::Command::new(python).arg(root.join(REFERENCE)).arg(&file))?;
    let comparison = Comparison::new(&reference, &ours)?;
    println!("{}", comparison.table());
    let mut faults = comparison.different();
    if !report_only {
        faults.extend(comparison.too_slow());
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::new(faults.join("\n       "))) }
}

fn measure(command: &mut process::Command) -> Outcome<Value> {
    serde_json::from_str(&capture(command)?).context("a benchmark printed invalid JSON")
}

struct Comparison {
    reference: String,
    ours: String,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    parse_ns: Pair,
    eval_ns: Pair,
    is_equal: bool,
}

struct Pair {
    reference: f64,
    ours: f64,
}

impl Pair {
    fn ratio(&self) -> f64 {
        self.reference / self.ours.max(1.0)
    }
}

impl Comparison {
    fn new(reference: &Value, ours: &Value) -> Outcome<Self> {
        let names =
            reference["cases"].as_object().ok_or_else(|| Failure::new("the reference ran no cases"))?;
        let cases = names.keys().map(|name| Case::new(name, &reference["cases"][name], &ours["cases"][name]));
        let engine = |value: &Value| value["engine"].as_str().unwrap_or("unknown").to_owned();
        Ok(Self { reference: engine(reference), ours: engine(ours), cases: cases.collect::<Outcome<_>>()? })
    }

    fn table(&self) -> String {
        let mut text =
            format!("Reference: {}. Ours: {}. Times in microseconds.\n\n", self.reference, self.ours);
        text += "| case | eval, reference | eval, ours | ratio | parse, reference | parse, ours | ratio | equal |\n";
        text += "|---|---:|---:|---:|---:|---:|---:|---|\n";
        for case in &self.cases {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                case.name,
                columns(&case.eval_ns),
                columns(&case.parse_ns),
                if case.is_equal { "yes" } else { "**no**" }
            );
        }
        let _ = write!(
            text,
            "| geometric mean | | | {:.0}x | | | {:.0}x | |",
            self.mean(|case| &case.eval_ns),
            self.mean(|case| &case.parse_ns)
        );
        text
    }

    fn different(&self) -> Vec<String> {
        let differs = self.cases.iter().filter(|case| !case.is_equal);
        differs.map(|case| format!("`{}`: the results differ", case.name)).collect()
    }

    fn too_slow(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut require = |what: String, ratio: f64, least: f64| {
            if ratio < least {
                faults.push(format!("{what} is {ratio:.0}x, less than {least:.0}x"));
            }
        };
        for case in &self.cases {
            require(format!("`{}`: evaluation", case.name), case.eval_ns.ratio(), EVAL_RATIO_MIN);
            require(format!("`{}`: parsing", case.name), case.parse_ns.ratio(), PARSE_RATIO_MIN);
        }
        require("mean of evaluation".to_owned(), self.mean(|case| &case.eval_ns), EVAL_RATIO_MEAN_MIN);
        faults
    }

    /// Returns the geometric mean of the ratios.
    fn mean(&self, pair: fn(&Case) -> &Pair) -> f64 {
        let logs: f64 = self.cases.iter().map(|case| pair(case).ratio().ln()).sum();
        (logs / self.cases.len().max(1) as f64).exp()
    }
}

impl Case {
    fn new(name: &str, reference: &Value, ours: &Value) -> Outcome<Self> {
        let number = |value: &Value, key: &str| {
            value[key]
                .as_f64()
                .ok_or_else(|| Failure::new(format!("case `{name}` has no `{key}` on one side")))
        };
        let pair = |key: &str| Ok(Pair { reference: number(reference, key)?, ours: number(ours, key)? });
        Ok(Self {
            name: name.to_owned(),
            parse_ns: pair("parse_ns")?,
            eval_ns: pair("eval_ns")?,
            is_equal: reference["sha256"].is_string() && reference["sha256"] == ours["sha256"],
        })
    }
}

fn columns(pair: &Pair) -> String {
    format!("{:.1} | {:.3} | {:.0}x", pair.reference / 1000.0, pair.ours / 1000.0, pair.ratio())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn side(eval_ns: u64, parse_ns: u64, sha256: &str) -> Value {
        json!({"engine": "e", "cases": {"a": {"eval_ns": eval_ns, "parse_ns": parse_ns, "sha256": sha256}}})
    }

    #[test]
    fn fast_and_equal_results_pass() {
        let comparison = Comparison::new(&side(2_000_000, 100_000, "x"), &side(1000, 1000, "x")).unwrap();
        assert_eq!(comparison.different(), Vec::<String>::new());
        assert_eq!(comparison.too_slow(), Vec::<String>::new());
        assert!(comparison.table().contains("| a | 2000.0 | 1.000 | 2000x | 100.0 | 1.000 | 100x | yes |"));
    }

    #[test]
    fn slow_cases_and_slow_mean_are_reported() {
        let comparison = Comparison::new(&side(299_000, 99_000, "x"), &side(1000, 1000, "x")).unwrap();
        let faults = comparison.too_slow();
        assert_eq!(
            faults,
            [
                "`a`: evaluation is 299x, less than 300x",
                "`a`: parsing is 99x, less than 100x",
                "mean of evaluation is 299x, less than 1500x"
            ]
        );
    }

    #[test]
    fn different_results_and_missing_cases_are_faults() {
        let comparison = Comparison::new(&side(1, 1, "x"), &side(1, 1, "y")).unwrap();
        assert_eq!(comparison.different(), ["`a`: the results differ"]);
        assert!(Comparison::new(&side(1, 1, "x"), &json!({"cases": {}})).is_err());
    }

    #[test]
    fn cases_name_existing_documents() {
        let text = std::fs::read_to_string(workspace::root().join(OWN)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let doc = case["doc"].as_str().unwrap();
            assert!(!file["docs"][doc].is_null(), "{doc}");
        }
    }
}
