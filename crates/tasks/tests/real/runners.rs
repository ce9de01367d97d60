//! Task types on the real programs that they run. A test whose program is missing is recorded as skipped.

use std::fs;

use serde_json::json;
use stoker_engine::session::Mode;
use stoker_testkit::Tool;

use super::Bench;
use super::resources::apply_twice;

#[tokio::test]
async fn rsync_mirrors_a_folder() {
    if Tool::RSYNC.find().is_none() {
        return;
    }
    let bench = Bench::new();
    fs::create_dir(bench.folder.file("src")).unwrap();
    fs::create_dir_all(bench.folder.file("to/dst")).unwrap();
    fs::write(bench.folder.file("src/a"), "a").unwrap();
    fs::write(bench.folder.file("to/dst/old"), "old").unwrap();
    let src = format!("{}/", bench.folder.file("src").display());
    let parameters = json!({"src": src, "dst": bench.folder.file("to/dst")});
    assert!(apply_twice(&bench, "sync", parameters.clone()).await);
    fs::write(bench.folder.file("to/dst/a"), "b").unwrap();
    assert!(apply_twice(&bench, "sync", parameters).await);
    assert!(apply_twice(&bench, "sync", json!({"src": src, "dst": bench.folder.file("new/dst")})).await);
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
    if Tool::PUPPET.find().is_none() {
        return;
    }
    let bench = Bench::new();
    let target = bench.folder.file("made");
    fs::write(bench.folder.file("a.pp"), format!("file {{ '{}': content => 'x' }}", target.display()))
        .unwrap();
    let summary =
        bench.run("puppet", json!({"puppet_manifest": bench.folder.file("a.pp")})).await.unwrap().summary;
    assert_eq!(summary["resources"]["changed"], 1);
    assert!(target.exists());
    fs::write(bench.folder.file("b.pp"), "exec { '/bin/false': }").unwrap();
    let failure =
        bench.run("puppet", json!({"puppet_manifest": bench.folder.file("b.pp")})).await.unwrap_err();
    assert_eq!(failure.report.summary["resources"]["failed"], 1);
}

#[tokio::test]
async fn puppet_finds_modules_and_changes_nothing_in_a_dry_run() {
    if Tool::PUPPET.find().is_none() {
        return;
    }
    let bench = Bench::new();
    let target = bench.folder.file("made");
    let module = bench.folder.file("modules/site/manifests");
    fs::create_dir_all(&module).unwrap();
    let class = format!("class site {{ file {{ '{}': content => 'x' }} }}", target.display());
    fs::write(module.join("init.pp"), class).unwrap();
    fs::write(bench.folder.file("a.pp"), "include site").unwrap();
    let parameters = json!({
        "puppet_manifest": bench.folder.file("a.pp"), "puppet_modules": bench.folder.file("modules"),
    });
    let report = bench.run_in(Mode::Noop, "puppet", parameters.clone()).await.unwrap();
    let n_changed = &report.summary["resources"]["changed"];
    assert_eq!((n_changed, report.changed, target.exists()), (&json!(0), Some(true), false), "{report:?}");
    let report = bench.run("puppet", parameters.clone()).await.unwrap();
    assert_eq!((fs::read_to_string(&target).unwrap().as_str(), report.changed), ("x", Some(true)));
    let report = bench.run("puppet", parameters).await.unwrap();
    assert_eq!(
        (&report.summary["resources"]["changed"], report.changed),
        (&json!(0), Some(false)),
        "idempotent: {report:?}"
    );
}

#[tokio::test]
async fn puppet_syntax_error_fails_without_a_summary() {
    if Tool::PUPPET.find().is_none() {
        return;
    }
    let bench = Bench::new();
    fs::write(bench.folder.file("a.pp"), "file {").unwrap();
    let parameters = json!({"puppet_manifest": bench.folder.file("a.pp"), "retries": 0});
    let failure = bench.run("puppet", parameters).await.unwrap_err();
    assert!(format!("{:?}", failure.cause).contains("Syntax error"), "{failure:?}");
}

#[tokio::test]
async fn ansible_runs_a_playbook() {
    if Tool::ANSIBLE.find().is_none() {
        return;
    }
    let bench = Bench::new();
    let playbook = "- hosts: all\n  gather_facts: false\n  tasks:\n    - command: test {{ wanted }} = yes\n";
    fs::write(bench.folder.file("a.yml"), playbook).unwrap();
    let parameters = |wanted: &str| json!({"playbook": bench.folder.file("a.yml"), "extra_vars": {"wanted": wanted}, "python": "/usr/bin/python3"});
    let report = bench.run("ansible", parameters("yes")).await.unwrap();
    let recap = &report.summary;
    assert_eq!((&recap["ok"], &recap["changed"], report.changed), (&json!(1), &json!(1), Some(true)));
    let failure = bench.run("ansible", parameters("no")).await.unwrap_err();
    assert_eq!(failure.report.summary["failed"], 1);
}

#[tokio::test]
async fn ansible_changes_nothing_in_a_dry_run() {
    if Tool::ANSIBLE.find().is_none() {
        return;
    }
    let bench = Bench::new();
    let target = bench.folder.file("made");
    let playbook = format!(
        "- hosts: all\n  gather_facts: false\n  tasks:\n    - copy: {{content: x, dest: {}}}\n      tags: [write]\n\
         \x20   - command: /bin/false\n      tags: [break]\n",
        target.display()
    );
    fs::write(bench.folder.file("a.yml"), playbook).unwrap();
    let parameters = json!({
        "playbook": bench.folder.file("a.yml"), "tags": ["write"], "python": "/usr/bin/python3",
    });
    let recap = bench.run_in(Mode::Noop, "ansible", parameters.clone()).await.unwrap().summary;
    assert_eq!((&recap["changed"], target.exists()), (&json!(1), false), "{recap:?}");
    bench.run("ansible", parameters.clone()).await.unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "x");
    let recap = bench.run("ansible", parameters).await.unwrap().summary;
    assert_eq!((&recap["ok"], &recap["changed"]), (&json!(1), &json!(0)), "idempotent: {recap:?}");
}

#[tokio::test]
async fn ansible_playbook_for_other_hosts_fails() {
    if Tool::ANSIBLE.find().is_none() {
        return;
    }
    let bench = Bench::new();
    fs::write(bench.folder.file("a.yml"), "- hosts: databases\n  tasks: []\n").unwrap();
    let failure = bench.run("ansible", json!({"playbook": bench.folder.file("a.yml")})).await.unwrap_err();
    assert!(format!("{:?}", failure.cause).contains("hosts: all"), "{failure:?}");
}

#[tokio::test]
async fn git_follows_branches_tags_and_commits() {
    if Tool::GIT.find().is_none() {
        return;
    }
    let bench = Bench::new();
    let (repo, dest) = (bench.folder.file("repo"), bench.folder.file("a/copy"));
    let git = |folder: &std::path::Path, script: &str| {
        let made =
            std::process::Command::new("/bin/sh").args(["-ec", script]).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{script}: {}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let commit = "git -c user.name=a -c user.email=a@b commit -qm x; git rev-parse HEAD";
    fs::create_dir(&repo).unwrap();
    let first = git(&repo, &format!("git init -qb main; echo 1 >f; git add f; {commit}"));
    git(&repo, "git -c user.name=a -c user.email=a@b tag -a v1 -m v1");
    let second = git(&repo, &format!("echo 2 >f; git add f; {commit}"));
    let content = || fs::read_to_string(dest.join("f")).unwrap();
    for (version, expected) in
        [("main", "2\n"), ("v1", "1\n"), (&*second, "2\n"), ("HEAD", "2\n"), (&*first, "1\n")]
    {
        apply_twice(&bench, "git", json!({"repo": repo, "dest": dest, "version": version})).await;
        assert_eq!(content(), expected, "{version}");
    }
    fs::write(dest.join("f"), "mine").unwrap();
    let parameters = json!({"repo": repo, "dest": dest, "version": "main"});
    let failure = format!("{:?}", bench.run("git", parameters.clone()).await.unwrap_err().cause);
    assert!(failure.contains("has local changes (M f"), "{failure}");
    let forced = json!({"repo": repo, "dest": dest, "version": "main", "force": true});
    assert!(apply_twice(&bench, "git", forced).await);
    assert_eq!(content(), "2\n");
    git(&repo, &format!("echo 3 >f; git add f; {commit}"));
    let stay = json!({"repo": repo, "dest": dest, "version": "main", "update": false});
    assert!(!apply_twice(&bench, "git", stay).await);
    assert!(apply_twice(&bench, "git", parameters).await);
    assert_eq!(content(), "3\n");
    let none = json!({"repo": bench.folder.file("none"), "dest": dest});
    let failure = format!("{:?}", bench.run("git", none).await.unwrap_err().cause);
    assert!(failure.contains("cannot read the repository"), "{failure}");
}
