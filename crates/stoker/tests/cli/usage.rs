//! Invalid usage and unreachable servers.

use stoker_testkit::TempFolder;

use crate::fixture::{execute, program};
use crate::transcript::Transcript;

/// A port without a listener.
const UNREACHABLE_SERVER: &str = "http://127.0.0.1:1";

/// A folder without a server.
struct Client {
    folder: TempFolder,
    transcript: Transcript,
}

impl Client {
    fn new() -> Self {
        let folder = TempFolder::new();
        let mut transcript = Transcript::default();
        transcript.replace_path(folder.path(), "FOLDER");
        Self { folder, transcript }
    }

    /// Runs a command line, split at whitespace, and returns its exit code.
    fn show(&mut self, line: &str) -> i32 {
        self.show_args(&line.split_whitespace().collect::<Vec<_>>(), &[])
    }

    fn show_args(&mut self, args: &[&str], env: &[(&str, &str)]) -> i32 {
        let mut command = program(self.folder.path(), args);
        command.envs(env.iter().copied()).env("COLUMNS", "100");
        let output = execute(command, "");
        self.transcript.record(args, "", &output);
        output.status.code().unwrap()
    }
}

#[test]
fn invalid_usage_exits_with_code_2() {
    let lines = [
        "graph upload --env 1",
        "graph upload --file x.yaml --release",
        "graph upload --env 1 --release 2 --type t --file x.yaml",
        "graph download",
        "graph download --release",
        "graph download --cluster --release 1",
        "graph download --env 1 --release 2",
        "graph download --release 1 --plugin 2",
        "graph download --env one",
        "graph execute",
        "graph execute --env 1 --type a/b",
        "graph show",
        "graph diff --env 1",
        "env show",
        "env show 1 --env 2",
        "env update 1",
        "env add nodes 1 --node 1",
        "env remove nodes 1",
        "role list",
        "role list --env 1 --release 2",
        "settings set --env 1",
        "settings set --env 1 debug",
        "plan --offline",
        "plan --env 1 --offline",
        "plan --env 1 --tasks x.yaml",
        "plan --env 1 --type a.b",
        "apply",
        "apply 5 --env 1",
        "run watch",
        "run logs 1 --task a --all",
        "node create",
        "node create --mac zz",
        "node update 1 --label rack",
        "user create ada --role nope",
        "user update 2 --role nope",
        "sequence create --release 1",
        "sequence create --release 1 --name x --graph a,b!",
        "token create x --days 0",
        "release list --output xml",
        "release list --server ftp://x",
        "--server http://x yaql 1",
    ];
    let mut client = Client::new();
    for line in lines {
        assert_eq!(client.show(line), 2, "{line}");
    }
    insta::assert_snapshot!("usage", client.transcript.take());
    // These commands print help, which other tests compare.
    for line in ["graph", "plan", "--output json"] {
        assert_eq!(client.show(line), 2, "{line}");
    }
}

/// An empty name would change the meaning of the request path.
#[test]
fn empty_names_are_rejected() {
    let mut client = Client::new();
    std::fs::write(client.folder.file("g.yaml"), "- {id: a, type: stage}\n").unwrap();
    for graph_type in ["", " ", "a b"] {
        for verb in ["upload", "download", "delete", "check", "show", "diff"] {
            let mut args = vec!["graph", verb, "--env", "1", "--type", graph_type];
            if matches!(verb, "upload" | "diff") {
                args.extend(["--file", "g.yaml"]);
            }
            assert_eq!(client.show_args(&args, &[]), 2, "{args:?}");
        }
    }
    client.show_args(&["role", "show", "--env", "1", ""], &[]);
    insta::assert_snapshot!("usage-empty-names", client.transcript.take());
}

#[test]
fn unreachable_server_exits_with_code_5() {
    let mut client = Client::new();
    client.show(&format!("release list --server {UNREACHABLE_SERVER}"));
    client.show_args(&["env", "list"], &[("STOKER_SERVER", UNREACHABLE_SERVER)]);
    client.show("env list --server https://127.0.0.1:1 --ca-file no.pem");
    std::fs::write(client.folder.file("empty.pem"), "nothing").unwrap();
    client.show("env list --server https://127.0.0.1:1 --ca-file empty.pem");
    insta::assert_snapshot!("unreachable", client.transcript.take());
}

#[test]
fn files_are_checked_before_any_request() {
    let mut client = Client::new();
    client.show("graph upload --env 1 --type t --file no.yaml");
    client.show("graph upload --env 1 --type t --dir .");
    client.show("release create --file no.yaml");
    client.show("backup --data-dir nope x");
    // Warnings are not errors, carets are as wide as the word, and nothing is reported twice.
    for text in
        ["", "- id: a\n  type: shel\n  retires: 1\n- {id: a, type: stage}\n", "- {id: a, type: stage}\n"]
    {
        std::fs::write(client.folder.file("g.yaml"), text).unwrap();
        client.show(&format!("graph upload --env 1 --type t --file g.yaml --server {UNREACHABLE_SERVER}"));
    }
    insta::assert_snapshot!("unreadable-files", client.transcript.take());
}
