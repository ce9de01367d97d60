//! Wrong usage, and servers that are not there.

use stoker_testkit::Folder;

use crate::desk::{program, said};

/// A port on which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1";

fn alone(line: &str) -> crate::desk::Said {
    let folder = Folder::new();
    let words: Vec<&str> = line.split_whitespace().collect();
    said(program(folder.path(), &words), "")
}

#[test]
fn what_makes_no_sense_is_wrong_usage() {
    let lines = [
        "graph",
        "graph upload --env 1",
        "graph upload --file x.yaml --release",
        "graph upload --env 1 --release 2 --type t --file x.yaml",
        "graph download --cluster --release 1",
        "graph download --env one",
        "graph execute",
        "env show",
        "env show 1 --env 2",
        "env add nodes 1 --node 1",
        "env remove nodes 1",
        "role list",
        "role list --env 1 --release 2",
        "settings set --env 1",
        "plan",
        "plan --offline",
        "plan --env 1 --offline",
        "plan --env 1 --tasks x.yaml",
        "apply",
        "apply 5 --env 1",
        "run watch",
        "run logs 1 --task a --all",
        "node create",
        "node create --mac zz",
        "user create ada --role nope",
        "user update 2 --role nope",
        "graph execute --env 1 --type a/b",
        "plan --env 1 --type a.b",
        "sequence create --release 1 --name x --graph a,b!",
        "node update 1 --label rack",
        "sequence create --release 1",
        "token create x --days 0",
        "release list --output xml",
        "--output json",
    ];
    for line in lines {
        let said = alone(line);
        assert_eq!(said.code, 2, "{line}: {}\n{}", said.out, said.err);
        assert!(said.out.is_empty() && !said.err.is_empty(), "{line}");
    }
}

/// An empty name in an address would mean another thing.
#[test]
fn a_name_is_not_empty() {
    let folder = Folder::new();
    std::fs::write(folder.file("g.yaml"), "- {id: a, type: stage}\n").unwrap();
    for graph_type in ["", " ", "a b"] {
        for verb in ["upload", "download", "delete", "check", "show", "diff"] {
            let mut words = vec!["graph", verb, "--env", "1", "--type", graph_type];
            if matches!(verb, "upload" | "diff") {
                words.extend(["--file", "g.yaml"]);
            }
            let said = said(program(folder.path(), &words), "");
            said.fails(2, &["is no graph type"]);
        }
    }
    said(program(folder.path(), &["role", "show", "--env", "1", ""]), "").fails(2, &["NAME"]);
}

#[test]
fn what_cannot_be_meant_is_explained() {
    alone("graph download").fails(2, &["whose graph is it?", "--env ID"]);
    alone("graph download --release").fails(2, &["this needs an id"]);
    alone("graph download --env 1 --release 2").fails(2, &["is a layer and takes no value"]);
    alone("graph download --release 1 --plugin 2").fails(2, &["two owners"]);
    alone("apply").fails(2, &["what is to be applied?", "--env ID"]);
    alone("node create --mac zz").fails(2, &["six bytes"]);
    alone("user create ada --role nope").fails(2, &["admin, operator, viewer, member"]);
    alone("graph show").fails(2, &["which graph?"]);
    alone("graph diff --env 1").fails(2, &["what is to be compared?"]);
    alone("env update 1").fails(2, &["nothing is to be changed"]);
    alone("settings set --env 1 debug").fails(2, &["common.debug=true"]);
    alone("--server http://x yaql 1").fails(2, &["`--server` before this command means nothing"]);
    alone("release list --server ftp://x").fails(2, &["http:// or https://"]);
}

#[test]
fn a_server_that_is_away_is_told_apart_from_a_no() {
    let away = alone(&format!("release list --server {NOWHERE}"));
    away.fails(5, &["does not answer", "Connection refused", "stoker serve"]);
    let folder = Folder::new();
    let mut command = program(folder.path(), &["env", "list"]);
    command.env("STOKER_SERVER", NOWHERE);
    said(command, "").fails(5, &[NOWHERE]);
    let words = ["env", "list", "--server", "https://127.0.0.1:1", "--ca-file", "no.pem"];
    said(program(folder.path(), &words), "").fails(3, &["no.pem"]);
    std::fs::write(folder.file("empty.pem"), "nothing").unwrap();
    let words = ["env", "list", "--server", "https://127.0.0.1:1", "--ca-file", "empty.pem"];
    said(program(folder.path(), &words), "").fails(3, &["no certificate"]);
}

#[test]
fn files_are_looked_at_before_the_server() {
    alone("graph upload --env 1 --type t --file no.yaml").fails(3, &["cannot read `no.yaml`"]);
    alone("graph upload --env 1 --type t --dir .").fails(3, &["there is no `tasks.yaml` below"]);
    alone("release create --file no.yaml").fails(3, &["cannot read `no.yaml`"]);
    alone("backup --data-dir nope x").fails(5, &["there is no database"]);
    let folder = Folder::new();
    let upload = |text: &str| {
        std::fs::write(folder.file("g.yaml"), text).unwrap();
        let words = ["graph", "upload", "--env", "1", "--type", "t", "--file", "g.yaml", "--server", NOWHERE];
        said(program(folder.path(), &words), "")
    };
    upload("").fails(3, &["`g.yaml` is empty"]);
    // A warning is none of the errors, carets are as wide as the word, and nothing is told twice.
    let err = upload("- id: a\n  type: shel\n  retires: 1\n- {id: a, type: stage}\n").fails(3, &[]);
    for word in ["error[manifest-choice]", "warning[manifest-unknown-key]", "g.yaml:4:8"] {
        assert!(err.contains(word), "{word}: {err}");
    }
    let carets: Vec<&str> =
        err.lines().filter_map(|line| line.split_once("| ")).map(|(_, it)| it.trim()).collect();
    assert!(carets.contains(&"^^^^^^^") && !carets.contains(&"^^^^^^^^"), "{err}");
    assert_eq!(err.matches("manifest-duplicate-task").count(), 1, "{err}");
    upload("- {id: a, type: stage}\n").fails(5, &["does not answer"]);
}
