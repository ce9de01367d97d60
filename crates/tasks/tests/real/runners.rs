//! External programs. Tests of a program that is not installed are skipped with a message.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Bench;

/// Reports whether a program is installed; prints an installation hint if not.
fn has(program: &str, package: &str) -> bool {
    let is_installed =
        ["/usr/bin", "/bin", "/usr/local/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    if !is_installed {
        eprintln!("skipped: `{program}` is missing; `apt-get install {package}`");
    }
    is_installed
}

#[tokio::test]
async fn rsync_mirrors_a_folder() {
    if !has("rsync", "rsync") {
        return;
    }
    let bench = Bench::new();
    fs::create_dir(bench.folder.file("src")).unwrap();
    fs::create_dir_all(bench.folder.file("to/dst")).unwrap();
    fs::write(bench.folder.file("src/a"), "a").unwrap();
    fs::write(bench.folder.file("to/dst/old"), "old").unwrap();
    let src = format!("{}/", bench.folder.file("src").display());
    bench.run("sync", json!({"src": src, "dst": bench.folder.file("to/dst")})).await.unwrap();
    assert_eq!(fs::read_to_string(bench.folder.file("to/dst/a")).unwrap(), "a");
    assert!(!bench.folder.file("to/dst/old").exists());
    let failure = bench
        .run("sync", json!({"src": "/no/such/folder", "dst": bench.folder.file("x")}))
        .await
        .unwrap_err();
    assert!(format!("{failure:?}").contains("exit code 23"), "{failure:?}");
}

#[tokio::test]
async fn puppet_applies_a_manifest() {
    if !has("puppet", "puppet-agent") {
        return;
    }
    let bench = Bench::new();
    let target = bench.folder.file("made");
    fs::write(bench.folder.file("a.pp"), format!("file {{ '{}': content => 'x' }}", target.display()))
        .unwrap();
    let summary = bench.run("puppet", json!({"puppet_manifest": bench.folder.file("a.pp")})).await.unwrap();
    assert_eq!(summary["resources"]["changed"], 1);
    assert!(target.exists());
    fs::write(bench.folder.file("b.pp"), "exec { '/bin/false': }").unwrap();
    let failure =
        bench.run("puppet", json!({"puppet_manifest": bench.folder.file("b.pp")})).await.unwrap_err();
    assert_eq!(failure.summary["resources"]["failed"], 1);
}

#[tokio::test]
async fn ansible_runs_a_playbook() {
    if !has("ansible-playbook", "ansible-core") {
        return;
    }
    let bench = Bench::new();
    let playbook = "- hosts: all\n  gather_facts: false\n  tasks:\n    - command: test {{ wanted }} = yes\n";
    fs::write(bench.folder.file("a.yml"), playbook).unwrap();
    let parameters = |wanted: &str| json!({"playbook": bench.folder.file("a.yml"), "extra_vars": {"wanted": wanted}, "python": "/usr/bin/python3"});
    let recap = bench.run("ansible", parameters("yes")).await.unwrap();
    assert_eq!((&recap["ok"], &recap["changed"]), (&json!(1), &json!(1)));
    let failure = bench.run("ansible", parameters("no")).await.unwrap_err();
    assert_eq!(failure.summary["failed"], 1);
}
