//! Invalid usage and unreachable servers.

use stoker_testkit::TempFolder;

use crate::fixture::{program, run_command};

/// A port without a listener.
const UNREACHABLE_SERVER: &str = "http://127.0.0.1:1";

fn run_without_server(line: &str) -> crate::fixture::CommandOutput {
    let folder = TempFolder::new();
    let args: Vec<&str> = line.split_whitespace().collect();
    run_command(program(folder.path(), &args), "")
}

#[test]
fn invalid_usage_exits_with_code_2() {
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
        let output = run_without_server(line);
        assert_eq!(output.code, 2, "{line}: {}\n{}", output.out, output.err);
        assert!(output.out.is_empty() && !output.err.is_empty(), "{line}");
    }
}

/// An empty name would change the meaning of the request path.
#[test]
fn empty_names_are_rejected() {
    let folder = TempFolder::new();
    std::fs::write(folder.file("g.yaml"), "- {id: a, type: stage}\n").unwrap();
    for graph_type in ["", " ", "a b"] {
        for verb in ["upload", "download", "delete", "check", "show", "diff"] {
            let mut args = vec!["graph", verb, "--env", "1", "--type", graph_type];
            if matches!(verb, "upload" | "diff") {
                args.extend(["--file", "g.yaml"]);
            }
            let output = run_command(program(folder.path(), &args), "");
            output.fails(2, &["is not a valid graph type"]);
        }
    }
    run_command(program(folder.path(), &["role", "show", "--env", "1", ""]), "").fails(2, &["NAME"]);
}

#[test]
fn invalid_usage_is_explained() {
    run_without_server("graph download").fails(2, &["no graph selected", "--env ID"]);
    run_without_server("graph download --release").fails(2, &["need an ID without `--env`"]);
    run_without_server("graph download --env 1 --release 2")
        .fails(2, &["selects a layer and takes no value"]);
    run_without_server("graph download --release 1 --plugin 2").fails(2, &["two different owners"]);
    run_without_server("apply").fails(2, &["nothing to apply", "--env ID"]);
    run_without_server("node create --mac zz").fails(2, &["expected a MAC address"]);
    run_without_server("user create ada --role nope").fails(2, &["admin, operator, viewer, member"]);
    run_without_server("graph show").fails(2, &["no graph selected"]);
    run_without_server("graph diff --env 1").fails(2, &["no graphs to compare"]);
    run_without_server("env update 1").fails(2, &["no fields to update"]);
    run_without_server("settings set --env 1 debug").fails(2, &["common.debug=true"]);
    run_without_server("--server http://x yaql 1")
        .fails(2, &["`--server` is not a global option of this command"]);
    run_without_server("release list --server ftp://x").fails(2, &["http:// or https://"]);
}

#[test]
fn unreachable_server_exits_with_code_5() {
    let output = run_without_server(&format!("release list --server {UNREACHABLE_SERVER}"));
    output.fails(5, &["cannot reach the server", "Connection refused", "stoker serve"]);
    let folder = TempFolder::new();
    let mut command = program(folder.path(), &["env", "list"]);
    command.env("STOKER_SERVER", UNREACHABLE_SERVER);
    run_command(command, "").fails(5, &[UNREACHABLE_SERVER]);
    let args = ["env", "list", "--server", "https://127.0.0.1:1", "--ca-file", "no.pem"];
    run_command(program(folder.path(), &args), "").fails(3, &["no.pem"]);
    std::fs::write(folder.file("empty.pem"), "nothing").unwrap();
    let args = ["env", "list", "--server", "https://127.0.0.1:1", "--ca-file", "empty.pem"];
    run_command(program(folder.path(), &args), "").fails(3, &["no certificate"]);
}

#[test]
fn files_are_checked_before_any_request() {
    run_without_server("graph upload --env 1 --type t --file no.yaml").fails(3, &["cannot read `no.yaml`"]);
    run_without_server("graph upload --env 1 --type t --dir .").fails(3, &["no `tasks.yaml` files below"]);
    run_without_server("release create --file no.yaml").fails(3, &["cannot read `no.yaml`"]);
    run_without_server("backup --data-dir nope x").fails(5, &["no database at"]);
    let folder = TempFolder::new();
    let upload = |text: &str| {
        std::fs::write(folder.file("g.yaml"), text).unwrap();
        let args = [
            "graph",
            "upload",
            "--env",
            "1",
            "--type",
            "t",
            "--file",
            "g.yaml",
            "--server",
            UNREACHABLE_SERVER,
        ];
        run_command(program(folder.path(), &args), "")
    };
    upload("").fails(3, &["`g.yaml` is empty"]);
    // Warnings are not errors, carets are as wide as the word, and nothing is reported twice.
    let err = upload("- id: a\n  type: shel\n  retires: 1\n- {id: a, type: stage}\n").fails(3, &[]);
    for word in ["error[manifest-choice]", "warning[manifest-unknown-key]", "g.yaml:4:8"] {
        assert!(err.contains(word), "{word}: {err}");
    }
    let carets: Vec<&str> =
        err.lines().filter_map(|line| line.split_once("| ")).map(|(_, text)| text.trim()).collect();
    assert!(carets.contains(&"^^^^^^^") && !carets.contains(&"^^^^^^^^"), "{err}");
    assert_eq!(err.matches("manifest-duplicate-task").count(), 1, "{err}");
    upload("- {id: a, type: stage}\n").fails(5, &["cannot reach the server"]);
}
