//! Runs fuzz targets with the stable compiler: coverage comes from LLVM flags, the engine from `libfuzzer-sys`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{Cx, Done};
use crate::failure::{Context as _, Failure, Outcome};
use crate::process::{capture, cargo, run, which};
use crate::tools::debian;
use crate::workspace;

pub(super) const MANIFEST: &str = "fuzz/Cargo.toml";

const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

pub(super) fn run_all(cx: &Cx) -> Outcome<Done> {
    if !cx.root.join(MANIFEST).is_file() {
        return Ok(Done::Skipped("the repository has no directory `fuzz`".to_owned()));
    }
    if which("g++").is_none() && which("c++").is_none() {
        debian::install(&debian::CXX)?;
    }
    let host = workspace::host_triple()?;
    let target_dir = cx.metadata.target_dir.join("fuzz");
    run(cargo()
        .current_dir(&cx.root)
        .args([
            "build",
            "--release",
            "--quiet",
            "--manifest-path",
            MANIFEST,
            "--target",
            &host,
            "--target-dir",
        ])
        .arg(&target_dir)
        .env("RUSTFLAGS", FLAGS))?;
    let mut failed = Vec::new();
    for target in targets(cx)? {
        let program = target_dir.join(&host).join("release").join(&target);
        let corpus = target_dir.join("corpus").join(&target);
        let artifacts = target_dir.join("artifacts").join(&target);
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).context(format!("cannot create `{}`", folder.display()))?;
        }
        let mut command = Command::new(program);
        command.current_dir(&cx.root).args(options(cx.fuzz_seconds));
        command.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(&corpus);
        let seeds = cx.root.join("fuzz/corpus").join(&target);
        if seeds.is_dir() {
            command.arg(seeds);
        }
        if run(&mut command).is_err() {
            failed.push(format!("{target} (input in `{}`)", artifacts.display()));
        }
    }
    if failed.is_empty() {
        return Ok(Done::Passed);
    }
    Err(Failure::new(format!("fuzz targets failed: {}", failed.join(", "))))
}

/// Returns the limits of a run: total time, time and memory per input, size of an input.
fn options(seconds: u64) -> [String; 6] {
    [
        format!("-max_total_time={seconds}"),
        // A fixed seed, as for property tests: a failed run is about the change at hand.
        "-seed=1".to_owned(),
        "-timeout=10".to_owned(),
        "-rss_limit_mb=2048".to_owned(),
        "-max_len=4096".to_owned(),
        "-verbosity=0".to_owned(),
    ]
}

fn targets(cx: &Cx) -> Outcome<Vec<String>> {
    let mut command = cargo();
    command.current_dir(&cx.root).args(["metadata", "--no-deps", "--format-version", "1"]);
    let text = capture(command.args(["--manifest-path", MANIFEST]))?;
    let value: Value = serde_json::from_str(&text).context("cannot read the output of `cargo metadata`")?;
    let names = binaries(&value);
    if names.is_empty() {
        return Err(Failure::new(format!("`{MANIFEST}` has no binaries")));
    }
    Ok(names)
}

fn binaries(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_binary = |target: &&Value| target["kind"][0] == "bin";
    targets.filter(is_binary).filter_map(|target| target["name"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary_is_a_target() {
        let metadata = serde_json::json!({"packages": [{"targets": [
            {"name": "parse", "kind": ["bin"]}, {"name": "shared", "kind": ["lib"]}, {"name": "eval", "kind": ["bin"]},
        ]}]});
        assert_eq!(binaries(&metadata), ["parse", "eval"]);
    }

    #[test]
    fn total_time_is_limited() {
        assert!(options(7).contains(&"-max_total_time=7".to_owned()));
    }
}
