//! File tasks on the real file system.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use serde_json::json;

use super::{Bench, message};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn file_is_written_with_parent_folders() {
    let bench = Bench::new();
    let path = bench.folder.file("a/b/c");
    let parameters = json!({"path": path, "data": "text", "permissions": "0640", "dir_permissions": "0750"});
    bench.run("upload_file", parameters).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!((mode(&path), mode(&bench.folder.file("a"))), (0o640, 0o750));
    let before = fs::metadata(&path).unwrap().ino();
    bench.run("upload_file", json!({"path": path, "data": "more"})).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "more");
    assert_ne!(fs::metadata(&path).unwrap().ino(), before, "replaced by rename");
    bench.run("upload_file", json!({"path": path, "data": "no", "overwrite": false})).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "more");
    assert_eq!(fs::read_dir(bench.folder.file("a/b")).unwrap().count(), 1, "no temporary file is left");
}

#[tokio::test]
async fn symbolic_link_is_followed() {
    let bench = Bench::new();
    fs::write(bench.folder.file("real"), "old").unwrap();
    symlink(bench.folder.file("real"), bench.folder.file("link")).unwrap();
    bench.run("upload_file", json!({"path": bench.folder.file("link"), "data": "new"})).await.unwrap();
    assert_eq!(fs::read_to_string(bench.folder.file("real")).unwrap(), "new");
    assert!(fs::symlink_metadata(bench.folder.file("link")).unwrap().is_symlink());
}

#[tokio::test]
async fn failed_writes_are_reported_and_change_nothing() {
    let bench = Bench::new();
    let message_text =
        message(bench.run("upload_file", json!({"path": bench.folder.path(), "data": "x"})).await);
    assert!(message_text.contains("is a directory, not a file"), "{message_text}");
    let missing = bench.folder.file("none/a");
    let message_text =
        message(bench.run("upload_file", json!({"path": missing, "data": "x", "parents": false})).await);
    assert!(message_text.contains("No such file or directory"), "{message_text}");
    let owned = json!({"path": bench.folder.file("a"), "data": "x", "user_owner": "no-such-user"});
    let message_text = message(bench.run("upload_file", owned).await);
    assert!(message_text.contains("user `no-such-user` does not exist"), "{message_text}");
    fs::write(bench.folder.file("file"), "").unwrap();
    let message_text =
        message(bench.run("upload_file", json!({"path": bench.folder.file("file/a"), "data": "x"})).await);
    assert!(message_text.contains("cannot create the directory"), "{message_text}");
    assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn binary_files_are_copied_from_the_master() {
    let bench = Bench::new();
    fs::write(bench.folder.file("source"), [0xff, 0, 1]).unwrap();
    let parameters =
        json!({"files": [{"src": bench.folder.file("source"), "dst": bench.folder.file("copy")}]});
    let prepared = stoker_tasks::prepare("copy_files", parameters, &stoker_tasks::SystemFiles).unwrap();
    bench.run("copy_files", prepared).await.unwrap();
    assert_eq!(fs::read(bench.folder.file("copy")).unwrap(), [0xff, 0, 1]);
}
