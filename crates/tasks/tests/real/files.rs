//! Files that tasks put in their places.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use serde_json::json;

use super::{Bench, message};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn a_file_appears_with_its_folders() {
    let bench = Bench::new();
    let path = bench.folder.file("a/b/c");
    let parameters = json!({"path": path, "data": "text", "permissions": "0640", "dir_permissions": "0750"});
    bench.run("upload_file", parameters).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!((mode(&path), mode(&bench.folder.file("a"))), (0o640, 0o750));
    let before = fs::metadata(&path).unwrap().ino();
    bench.run("upload_file", json!({"path": path, "data": "more"})).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "more");
    assert_ne!(fs::metadata(&path).unwrap().ino(), before, "it is another file, moved into place");
    bench.run("upload_file", json!({"path": path, "data": "no", "overwrite": false})).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "more");
    assert_eq!(fs::read_dir(bench.folder.file("a/b")).unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn a_link_stays_a_link() {
    let bench = Bench::new();
    fs::write(bench.folder.file("real"), "old").unwrap();
    symlink(bench.folder.file("real"), bench.folder.file("link")).unwrap();
    bench.run("upload_file", json!({"path": bench.folder.file("link"), "data": "new"})).await.unwrap();
    assert_eq!(fs::read_to_string(bench.folder.file("real")).unwrap(), "new");
    assert!(fs::symlink_metadata(bench.folder.file("link")).unwrap().is_symlink());
}

#[tokio::test]
async fn what_cannot_be_written_is_told_and_leaves_everything_as_it_was() {
    let bench = Bench::new();
    let told = message(bench.run("upload_file", json!({"path": bench.folder.path(), "data": "x"})).await);
    assert!(told.contains("it is a folder"), "{told}");
    let missing = bench.folder.file("none/a");
    let told =
        message(bench.run("upload_file", json!({"path": missing, "data": "x", "parents": false})).await);
    assert!(told.contains("No such file or directory"), "{told}");
    let owned = json!({"path": bench.folder.file("a"), "data": "x", "user_owner": "no-such-user"});
    let told = message(bench.run("upload_file", owned).await);
    assert!(told.contains("there is no user `no-such-user`"), "{told}");
    fs::write(bench.folder.file("file"), "").unwrap();
    let told =
        message(bench.run("upload_file", json!({"path": bench.folder.file("file/a"), "data": "x"})).await);
    assert!(told.contains("cannot create the folder"), "{told}");
    assert_eq!(fs::read_dir(bench.folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn files_of_the_master_and_bytes_that_are_no_text() {
    let bench = Bench::new();
    fs::write(bench.folder.file("source"), [0xff, 0, 1]).unwrap();
    let given = json!({"files": [{"src": bench.folder.file("source"), "dst": bench.folder.file("copy")}]});
    let prepared = stoker_tasks::prepare("copy_files", given, &stoker_tasks::SystemFiles).unwrap();
    bench.run("copy_files", prepared).await.unwrap();
    assert_eq!(fs::read(bench.folder.file("copy")).unwrap(), [0xff, 0, 1]);
}
