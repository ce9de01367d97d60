//! `stoker plugin create`, `check` and `build` over the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod program;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use program::run_bytes;
use serde_json::{Value, json};
use stoker_testkit::{Folder, real_data};

fn plugin(arguments: &[&str]) -> Output {
    run_bytes(&[&["plugin"], arguments].concat(), b"")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[track_caller]
fn failed(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stderr).to_owned()
}

fn created(folder: &Folder, more: &[&str]) -> PathBuf {
    let path = folder.file("gridnet");
    done(&plugin(&[&["create", shown(&path)], more].concat()));
    path
}

#[test]
fn a_new_plugin_of_each_version_is_sound_and_can_be_built() {
    for version in ["1.0.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0"] {
        let folder = Folder::new();
        let path = created(&folder, &["--package-version", version, "--with-wizard"]);
        assert!(path.join("wizard_metadata.yaml").is_file());
        let said = done(&plugin(&["check", shown(&path)]));
        assert!(said.contains(&format!("gridnet 1.0.0 (package version {version}) is sound")), "{said}");
        let first = done(&plugin(&["build", shown(&path)]));
        let archive = path.join("gridnet-1.0.0.fp");
        assert_eq!(first.trim_end(), shown(&archive));
        let bytes = fs::read(&archive).unwrap();
        let again = done(&plugin(&["build", shown(&path), "--output-dir", shown(&folder.file("dist/new"))]));
        assert_eq!(fs::read(again.trim_end()).unwrap(), bytes, "the same files, the same bytes");
        done(&plugin(&["check", shown(&archive)]));
    }
    let folder = Folder::new();
    let path = created(&folder, &[]);
    assert!(!path.join("wizard_metadata.yaml").exists());
    assert!(fs::read_to_string(path.join("metadata.yaml")).unwrap().contains("5.0.0"));
}

#[test]
fn names_and_places_of_new_plugins() {
    let folder = Folder::new();
    for name in ["Grid", "grid net", "grid.net", "ä"] {
        let told = failed(&plugin(&["create", shown(&folder.file(name))]), 2);
        assert!(told.contains("small letters, digits"), "{told}");
    }
    fs::create_dir(folder.file("taken")).unwrap();
    assert!(failed(&plugin(&["create", shown(&folder.file("taken"))]), 2).contains("is there already"));
    for version in ["6.0.0", "5", "x"] {
        let told = failed(&plugin(&["create", shown(&folder.file("new")), "--package-version", version]), 2);
        assert!(told.contains("must be one of 1.0.0, 2.0.0"), "{told}");
    }
    fs::write(folder.file("file"), "").unwrap();
    failed(&plugin(&["create", shown(&folder.file("file/new"))]), 4);
    failed(&plugin(&["create"]), 2);
}

#[test]
fn all_problems_have_file_line_and_caret() {
    let folder = Folder::new();
    let path = created(&folder, &["--package-version", "4.0.0"]);
    let edit = |file: &str, from: &str, to: &str| {
        let file = path.join(file);
        let before = fs::read_to_string(&file).unwrap();
        assert!(before.contains(from), "{before}");
        fs::write(&file, before.replace(from, to)).unwrap();
    };
    edit("metadata.yaml", "\nversion: '1.0.0'", "\nversion: one");
    fs::write(path.join("components.yaml"), "- name: nonsense\n  label: X\n").unwrap();
    fs::write(
        path.join("tasks.yaml"),
        "- {role: '*', stage: deploy/5, type: shell, parameters: {cmd: a, timeout: 1}}\n",
    )
    .unwrap();
    let output = plugin(&["check", shown(&path)]);
    let told = failed(&output, 1);
    for expected in [
        "error[version-malformed]",
        "error[component-name]",
        "error[stage-unknown]",
        "metadata.yaml:",
        "tasks.yaml:1:",
        "^^^",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(text(&output.stdout).ends_with("3 errors\n"), "{}", text(&output.stdout));
    let output = plugin(&["check", shown(&path), shown(&folder.file("nowhere")), "-o", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer[0]["sound"], &answer[1]["sound"]), (&json!(false), &json!(false)));
    let problems = answer[0]["problems"].as_array().unwrap();
    let files: Vec<&str> = problems.iter().map(|problem| problem["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["components.yaml", "metadata.yaml", "tasks.yaml"]);
    let stage = &problems[2];
    assert_eq!(
        (&stage["path"], &stage["line"], &stage["code"]),
        (&json!([0, "stage"]), &json!(1), &json!("stage-unknown"))
    );
    assert!(answer[1]["error"].as_str().unwrap().contains("cannot read"));
}

#[test]
fn what_is_wrong_is_not_built() {
    let folder = Folder::new();
    let path = created(&folder, &[]);
    fs::remove_file(path.join("environment_config.yaml")).unwrap();
    let told = failed(&plugin(&["build", shown(&path)]), 1);
    assert!(told.contains("error[file-missing]"), "{told}");
    assert!(!path.join("gridnet-1.0.0.fp").exists());
    failed(&plugin(&["build", shown(&folder.file("nowhere"))]), 3);
    failed(&plugin(&["build", shown(&path.join("metadata.yaml"))]), 3);
    failed(&plugin(&["build", shown(&path), "--package-version", "4.0.0"]), 2);
    fs::write(folder.file("plain.fp"), "PK\x03\x04").unwrap();
    assert!(failed(&plugin(&["check", shown(&folder.file("plain.fp"))]), 3).contains("a zip archive"));
}

#[test]
fn the_hook_runs_before_the_check_and_can_stop_the_build() {
    let folder = Folder::new();
    let path = created(&folder, &[]);
    let hook = path.join("pre_build_hook");
    fs::write(&hook, "#!/bin/sh\necho told\ncp -r . ../copy\nmkdir -p deployment_scripts/made\necho made > deployment_scripts/made/file\n").unwrap();
    done(&plugin(&["build", shown(&path)]));
    assert!(!path.join("deployment_scripts/made").exists(), "it is not executable");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let output = plugin(&["build", shown(&path)]);
    assert_eq!(done(&output).lines().count(), 1, "standard output is the path");
    assert!(text(&output.stderr).contains("told"));
    assert!(path.join("deployment_scripts/made/file").exists());
    fs::remove_file(path.join("gridnet-1.0.0.fp")).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 7\n").unwrap();
    let told = failed(&plugin(&["build", shown(&path)]), 1);
    assert!(told.contains("error[pre-build-hook]") && told.contains("exit status: 7"), "{told}");
    assert!(!path.join("gridnet-1.0.0.fp").exists());
}

/// Real plugins, with the folders that their releases name.
#[test]
fn real_plugins_pass_or_fail_as_they_should() {
    let Some(readme) = real_data("plugins/README.md") else { return };
    let folder = Folder::new();
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
    let arguments: Vec<&str> = paths.iter().map(|path| shown(path)).collect();
    let output = plugin(&[&["check", "-o", "json"], &arguments[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wrong: Vec<&Value> =
        answer.as_array().unwrap().iter().filter(|found| found["sound"] == json!(false)).collect();
    assert_eq!(wrong.len(), 1, "{wrong:#?}");
    assert!(wrong[0]["path"].as_str().unwrap().ends_with("community-opendaylight-1.0.0"));
    let errors: Vec<&Value> = wrong[0]["problems"]
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
    // All that are sound can be packed and read again.
    for found in answer.as_array().unwrap().iter().filter(|found| found["sound"] == json!(true)) {
        let archive = done(&plugin(&[
            "build",
            found["path"].as_str().unwrap(),
            "--output-dir",
            shown(&folder.file("dist")),
        ]));
        done(&plugin(&["check", archive.trim_end()]));
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
