//! `stoker plugin create`, `check` and `build` over the real binary.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod program;
mod transcript;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use program::run_bytes;
use serde_json::{Value, json};
use stoker_testkit::{TempFolder, real_data};
use transcript::Transcript;

fn plugin(arguments: &[&str]) -> Output {
    run_bytes(&[&["plugin"], arguments].concat(), b"")
}

/// Executes a command and records it.
fn record(transcript: &mut Transcript, arguments: &[&str]) -> i32 {
    let output = plugin(arguments);
    transcript.record(&[&["plugin"], arguments].concat(), "", &output);
    output.status.code().unwrap()
}

fn transcript_of(folder: &TempFolder) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.replace_path(folder.path(), "FOLDER");
    transcript
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn path_str(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn expect_ok(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).to_owned()
}

fn create_plugin(folder: &TempFolder, more: &[&str]) -> PathBuf {
    let path = folder.file("gridnet");
    expect_ok(&plugin(&[&["create", path_str(&path)], more].concat()));
    path
}

#[test]
fn new_plugin_of_each_version_is_valid_and_can_be_built() {
    for version in ["1.0.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0"] {
        let folder = TempFolder::new();
        let path = create_plugin(&folder, &["--package-version", version, "--with-wizard"]);
        assert!(path.join("wizard_metadata.yaml").is_file());
        let output = expect_ok(&plugin(&["check", path_str(&path)]));
        assert!(
            output.ends_with(&format!("gridnet 1.0.0 (package version {version}) is valid\n")),
            "{output}"
        );
        let build_output = expect_ok(&plugin(&["build", path_str(&path)]));
        let archive = path.join("gridnet-1.0.0.fp");
        assert_eq!(build_output.trim_end(), path_str(&archive));
        let bytes = fs::read(&archive).unwrap();
        let rebuild_output = expect_ok(&plugin(&[
            "build",
            path_str(&path),
            "--output-dir",
            path_str(&folder.file("dist/new")),
        ]));
        assert_eq!(fs::read(rebuild_output.trim_end()).unwrap(), bytes, "builds are reproducible");
        expect_ok(&plugin(&["check", path_str(&archive)]));
    }
    let folder = TempFolder::new();
    let path = create_plugin(&folder, &[]);
    assert!(!path.join("wizard_metadata.yaml").exists());
    assert!(fs::read_to_string(path.join("metadata.yaml")).unwrap().contains("5.0.0"));
}

#[test]
fn invalid_names_and_paths_of_new_plugins_are_rejected() {
    let folder = TempFolder::new();
    let mut transcript = transcript_of(&folder);
    for name in ["Grid", "grid net", "grid.net", "ä"] {
        assert_eq!(record(&mut transcript, &["create", path_str(&folder.file(name))]), 2);
    }
    fs::create_dir(folder.file("taken")).unwrap();
    assert_eq!(record(&mut transcript, &["create", path_str(&folder.file("taken"))]), 2);
    for version in ["6.0.0", "5", "x"] {
        let path = folder.file("new");
        let arguments = ["create", path_str(&path), "--package-version", version];
        assert_eq!(record(&mut transcript, &arguments), 2);
    }
    fs::write(folder.file("file"), "").unwrap();
    assert_eq!(record(&mut transcript, &["create", path_str(&folder.file("file/new"))]), 4);
    assert_eq!(record(&mut transcript, &["create"]), 2);
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn all_problems_have_a_file_and_line() {
    let folder = TempFolder::new();
    let path = create_plugin(&folder, &["--package-version", "4.0.0"]);
    let edit = |file: &str, from: &str, to: &str| {
        let file = path.join(file);
        let content = fs::read_to_string(&file).unwrap();
        assert!(content.contains(from), "{content}");
        fs::write(&file, content.replace(from, to)).unwrap();
    };
    edit("metadata.yaml", "\nversion: '1.0.0'", "\nversion: one");
    fs::write(path.join("components.yaml"), "- name: nonsense\n  label: X\n").unwrap();
    fs::write(
        path.join("tasks.yaml"),
        "- {role: '*', stage: deploy/5, type: shell, parameters: {cmd: a, timeout: 1}}\n",
    )
    .unwrap();
    let mut transcript = transcript_of(&folder);
    assert_eq!(record(&mut transcript, &["check", path_str(&path)]), 1);
    insta::assert_snapshot!(transcript.take());
    let output = plugin(&["check", path_str(&path), path_str(&folder.file("nowhere")), "-o", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&results[0]["sound"], &results[1]["sound"]), (&json!(false), &json!(false)));
    let problems = results[0]["problems"].as_array().unwrap();
    let files: Vec<&str> = problems.iter().map(|problem| problem["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["components.yaml", "metadata.yaml", "tasks.yaml"]);
    let stage = &problems[2];
    assert_eq!(
        (&stage["path"], &stage["line"], &stage["code"]),
        (&json!([0, "stage"]), &json!(1), &json!("stage-unknown"))
    );
    assert!(results[1]["error"].as_str().unwrap().starts_with("cannot read"), "{results}");
}

#[test]
fn invalid_plugin_is_not_built() {
    let folder = TempFolder::new();
    let path = create_plugin(&folder, &[]);
    fs::remove_file(path.join("environment_config.yaml")).unwrap();
    let mut transcript = transcript_of(&folder);
    assert_eq!(record(&mut transcript, &["build", path_str(&path)]), 1);
    assert!(!path.join("gridnet-1.0.0.fp").exists());
    assert_eq!(record(&mut transcript, &["build", path_str(&folder.file("nowhere"))]), 3);
    assert_eq!(record(&mut transcript, &["build", path_str(&path.join("metadata.yaml"))]), 3);
    assert_eq!(record(&mut transcript, &["build", path_str(&path), "--package-version", "4.0.0"]), 2);
    fs::write(folder.file("plain.fp"), "PK\x03\x04").unwrap();
    assert_eq!(record(&mut transcript, &["check", path_str(&folder.file("plain.fp"))]), 3);
    insta::assert_snapshot!(transcript.take());
}

#[test]
fn hook_runs_before_the_check_and_can_fail_the_build() {
    let folder = TempFolder::new();
    let path = create_plugin(&folder, &[]);
    let hook = path.join("pre_build_hook");
    fs::write(&hook, "#!/bin/sh\necho hook-output\ncp -r . ../copy\nmkdir -p deployment_scripts/made\necho made > deployment_scripts/made/file\n").unwrap();
    expect_ok(&plugin(&["build", path_str(&path)]));
    assert!(!path.join("deployment_scripts/made").exists(), "the hook is not executable");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let output = plugin(&["build", path_str(&path)]);
    assert_eq!(expect_ok(&output).lines().count(), 1, "standard output contains only the path");
    assert_eq!(text(&output.stderr), "hook-output\n");
    assert!(path.join("deployment_scripts/made/file").exists());
    fs::remove_file(path.join("gridnet-1.0.0.fp")).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 7\n").unwrap();
    let mut transcript = transcript_of(&folder);
    assert_eq!(record(&mut transcript, &["build", path_str(&path)]), 1);
    insta::assert_snapshot!(transcript.take());
    assert!(!path.join("gridnet-1.0.0.fp").exists());
}

/// Real plugins, with the directories that their metadata refers to.
#[test]
fn real_plugins_have_the_expected_results() {
    let Some(readme) = real_data("plugins/README.md") else { return };
    let folder = TempFolder::new();
    let mut paths = Vec::new();
    for group in ["examples", "templates", "community"] {
        for entry in fs::read_dir(readme.parent().unwrap().join(group)).unwrap() {
            let source = entry.unwrap().path();
            if source.join("metadata.yaml").is_file() {
                let target =
                    folder.file(&format!("{group}-{}", source.file_name().unwrap().to_str().unwrap()));
                copy(&source, &target);
                paths.push(target);
            }
        }
    }
    assert_eq!(paths.len(), 32);
    let arguments: Vec<&str> = paths.iter().map(|path| path_str(path)).collect();
    let output = plugin(&[&["check", "-o", "json"], &arguments[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let invalid: Vec<&Value> =
        results.as_array().unwrap().iter().filter(|result| result["sound"] == json!(false)).collect();
    assert_eq!(invalid.len(), 1, "{invalid:#?}");
    assert!(invalid[0]["path"].as_str().unwrap().ends_with("community-opendaylight-1.0.0"));
    let errors: Vec<&Value> = invalid[0]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|problem| problem["severity"] == "error")
        .collect();
    assert_eq!(
        (errors.len(), &errors[0]["code"], &errors[0]["file"]),
        (1, &json!("yaml-syntax"), &json!("deployment_tasks.yaml"))
    );
    assert!(errors[0]["line"].is_u64());
    // All valid plugins can be packed and unpacked.
    for result in results.as_array().unwrap().iter().filter(|result| result["sound"] == json!(true)) {
        let archive = expect_ok(&plugin(&[
            "build",
            result["path"].as_str().unwrap(),
            "--output-dir",
            path_str(&folder.file("dist")),
        ]));
        expect_ok(&plugin(&["check", archive.trim_end()]));
    }
}

fn copy(source: &Path, target: &Path) {
    fs::create_dir_all(target).unwrap();
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        let inner = target.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &inner);
        } else {
            fs::copy(entry.path(), inner).unwrap();
        }
    }
    if let Ok(metadata) = fs::read_to_string(target.join("metadata.yaml")) {
        for (_, path) in metadata.lines().filter_map(|line| line.split_once("_path:")) {
            fs::create_dir_all(target.join(path.trim().trim_matches(['\'', '"']))).unwrap();
        }
    }
}
