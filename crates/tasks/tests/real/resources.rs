//! Resources on the real file system.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use stoker_engine::session::Mode;

use super::{Bench, message};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Applies a resource twice; the second time must change nothing. Returns whether the first time did.
pub(super) async fn apply_twice(bench: &Bench, task_type: &str, parameters: Value) -> bool {
    let dry = bench.run_in(Mode::Noop, task_type, parameters.clone()).await.unwrap();
    let first = bench.run(task_type, parameters.clone()).await.unwrap();
    assert_eq!((dry.changed, &dry.diff), (first.changed, &first.diff), "{task_type} {parameters}");
    let second = bench.run(task_type, parameters.clone()).await.unwrap();
    assert_eq!((second.changed, second.diff), (Some(false), vec![]), "{task_type} {parameters}");
    first.changed.unwrap()
}

#[tokio::test]
async fn files_directories_and_links_converge() {
    let bench = Bench::new();
    let (folder, file, link) =
        (bench.folder.file("d/e"), bench.folder.file("d/e/f"), bench.folder.file("d/l"));
    for (task_type, parameters, changes) in [
        ("directory", json!({"path": folder, "mode": "0750"}), true),
        ("directory", json!({"path": folder}), false),
        ("file", json!({"path": file, "content": "a\n", "mode": "0600"}), true),
        ("file", json!({"path": file, "content": "b\n", "backup": true}), true),
        ("file", json!({"path": file, "mode": "0640", "owner": "0", "group": "0"}), true),
        ("line", json!({"path": file, "line": "c"}), true),
        ("line", json!({"path": file, "regexp": "^b", "state": "absent"}), true),
        ("link", json!({"path": link, "target": "e/f"}), true),
        ("link", json!({"path": link, "target": "e"}), true),
        ("file", json!({"path": file, "state": "absent"}), true),
        ("file", json!({"path": file, "state": "absent"}), false),
        ("link", json!({"path": link, "state": "absent"}), true),
    ] {
        let name = format!("{task_type} {parameters}");
        assert_eq!(apply_twice(&bench, task_type, parameters).await, changes, "{name}");
        if task_type == "line" {
            assert_eq!(mode(&file), 0o640, "unmanaged attributes stay");
        }
    }
    assert_eq!(mode(&folder), 0o750);
    assert_eq!(fs::read_to_string(bench.folder.file("d/e/f.~1~")).unwrap(), "a\n");
    assert!(
        apply_twice(&bench, "directory", json!({"path": bench.folder.file("d"), "state": "absent"})).await
    );
    assert!(!folder.exists());
}

#[tokio::test]
async fn refused_content_does_not_become_visible() {
    let bench = Bench::new();
    let file = bench.folder.file("a.conf");
    let parameters = |content: &str| json!({"path": file, "content": content, "mode": "0644", "validate": "grep -q good %s"});
    assert!(apply_twice(&bench, "file", parameters("good\n")).await);
    let failure = bench.run("file", parameters("bad\n")).await.unwrap_err();
    assert_eq!((failure.report.changed, failure.report.diff), (None, vec![]), "nothing was changed");
    let text = format!("{:?}", failure.cause);
    assert!(
        text.contains("`grep -q good %s` refuses the new content") && text.contains("exit code 1"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "good\n");
    assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn content_behind_a_link_is_managed() {
    let bench = Bench::new();
    let (file, link) = (bench.folder.file("real"), bench.folder.file("link"));
    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    assert!(apply_twice(&bench, "file", json!({"path": link, "content": "new"})).await);
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[tokio::test]
async fn errors_name_path_and_cause() {
    let bench = Bench::new();
    fs::write(bench.folder.file("file"), "").unwrap();
    for (task_type, parameters, expected) in [
        ("file", json!({"path": bench.folder.file("none/a"), "content": "x"}), "No such file or directory"),
        ("directory", json!({"path": bench.folder.file("file")}), "is a file, not a directory"),
        ("directory", json!({"path": bench.folder.file("file/x")}), "cannot create the directory"),
        ("link", json!({"path": bench.folder.file("file"), "target": "x"}), "not a symbolic link"),
        ("line", json!({"path": bench.folder.file("none"), "line": "x"}), "does not exist"),
        ("file", json!({"path": bench.folder.path(), "state": "absent"}), "is a directory, not a file"),
        (
            "file",
            json!({"path": bench.folder.file("b"), "owner": "no-such-user"}),
            "user `no-such-user` does not exist",
        ),
    ] {
        let name = format!("{task_type} {parameters}");
        let text = message(bench.run(task_type, parameters).await);
        assert!(text.contains(expected), "{name}: {text}");
    }
}

#[tokio::test]
async fn commands_report_what_they_changed() {
    let bench = Bench::new();
    let made = bench.folder.file("made");
    let cmd = format!("touch {}", made.display());
    let report = bench.run_in(Mode::Noop, "command", json!({"cmd": cmd, "creates": made})).await.unwrap();
    assert_eq!((report.changed, made.exists()), (Some(true), false));
    let report = bench.run("command", json!({"cmd": cmd, "creates": made})).await.unwrap();
    assert_eq!((report.changed, made.exists()), (Some(true), true));
    let report = bench.run("command", json!({"cmd": cmd, "creates": made})).await.unwrap();
    assert_eq!(report.changed, Some(false));
    for (parameters, changed) in [
        (json!({"cmd": "exit 3", "changed_when": {"codes": [3]}}), true),
        (json!({"cmd": "echo 2 built", "changed_when": {"output": "[1-9] built"}}), true),
        (json!({"cmd": "echo 0 built", "changed_when": {"output": "[1-9] built"}}), false),
        (json!({"cmd": "true", "unless": "echo quiet"}), false),
        (json!({"cmd": "true", "only_if": "exit 1"}), false),
    ] {
        assert_eq!(
            bench.run("command", parameters.clone()).await.unwrap().changed,
            Some(changed),
            "{parameters}"
        );
    }
    // Conditions are queries: their output is not output of the task.
    assert_eq!(bench.stdout(), format!("would run: {cmd}\n2 built\n0 built\n"));
}

/// Returns a tar archive with one directory, and its digest.
fn archive(bench: &Bench, name: &str, script: &str) -> (std::path::PathBuf, String) {
    let (tree, file) = (bench.folder.file(&format!("{name}-tree")), bench.folder.file(name));
    fs::create_dir_all(&tree).unwrap();
    let made =
        std::process::Command::new("/bin/sh").args(["-ec", script]).arg(&file).current_dir(&tree).status();
    assert!(made.unwrap().success());
    let sum = std::process::Command::new("sha256sum").arg(&file).output().unwrap().stdout;
    let digest = String::from_utf8(sum).unwrap();
    (file, format!("sha256:{}", digest.split(' ').next().unwrap()))
}

#[tokio::test]
async fn archives_replace_their_directory() {
    let bench = Bench::new();
    let dest = bench.folder.file("opt/shop");
    let (first, digest) =
        archive(&bench, "1.tar.gz", "mkdir -p r/bin; echo 1 >r/bin/a; chmod 755 r/bin/a; tar czf $0 r");
    let parameters = json!({"source": first, "dest": dest, "digest": digest, "strip": 1});
    assert!(apply_twice(&bench, "archive", parameters.clone()).await);
    assert_eq!(
        (fs::read_to_string(dest.join("bin/a")).unwrap().as_str(), mode(&dest.join("bin/a"))),
        ("1\n", 0o755)
    );
    let (second, digest) = archive(&bench, "2.tar.xz", "mkdir r; echo 2 >r/b; ln -s b r/l; tar cJf $0 r");
    assert!(apply_twice(&bench, "archive", json!({"source": second, "dest": dest, "digest": digest})).await);
    assert_eq!(fs::read_to_string(dest.join("r/l")).unwrap(), "2\n");
    assert!(!dest.join("bin").exists());
    assert_eq!(fs::read_dir(dest.parent().unwrap()).unwrap().count(), 1, "no temporary directory is left");

    let other = format!("sha256:{}", "0".repeat(64));
    let refused = bench.run("archive", json!({"source": first, "dest": dest, "digest": other})).await;
    assert!(message(refused).contains("has the digest sha256:"));
    assert!(dest.join("r/b").exists(), "the previous content stays");
    let (several, digest) = archive(&bench, "3.tar", "touch a b; tar cf $0 a b");
    let strip = json!({"source": several, "dest": dest, "digest": digest, "strip": 1});
    assert!(message(bench.run("archive", strip).await).contains("level 1 is not a single directory"));
    let (unsafe_file, digest) = archive(&bench, "4.tar", "echo x >../evil; tar cPf $0 ../evil; rm ../evil");
    let outside = json!({"source": unsafe_file, "dest": dest, "digest": digest});
    assert!(message(bench.run("archive", outside).await).contains("unsafe path"));
    assert!(!bench.folder.file("opt/evil").exists());
    fs::create_dir(bench.folder.file("own")).unwrap();
    fs::write(bench.folder.file("own/data"), "").unwrap();
    let own = json!({"source": first, "dest": bench.folder.file("own"), "digest": parameters["digest"]});
    assert!(message(bench.run("archive", own).await).contains("content that no archive brought"));
    assert!(apply_twice(&bench, "archive", json!({"dest": dest, "state": "absent"})).await);
}

#[tokio::test]
async fn waits_end_when_the_condition_is_true() {
    let bench = Bench::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let report = bench.run("wait_for", json!({"port": port})).await.unwrap();
    assert_eq!(report.changed, Some(false));
    let answer = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let mut stream = server.incoming().nth(1).unwrap().unwrap();
        _ = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
    });
    let url = format!("http://127.0.0.1:{port}/health");
    bench.run("wait_for", json!({"url": url, "status": 204})).await.unwrap();
    answer.join().unwrap();
    bench.run("wait_for", json!({"port": port, "state": "absent"})).await.unwrap();
    let failed = message(bench.run("wait_for", json!({"url": url, "timeout": 0})).await);
    assert!(failed.contains("does not respond"), "{failed}");
    let log = bench.folder.file("log");
    let waiting = bench.run("wait_for", json!({"path": log, "regexp": "^ready", "timeout": 20}));
    let writing = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        fs::write(&log, "start\nready\n").unwrap();
    };
    let (waited, ()) = tokio::join!(waiting, writing);
    waited.unwrap();
}
