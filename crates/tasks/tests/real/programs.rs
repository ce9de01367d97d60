//! Process start, environment and output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use stoker_tasks::output::OUTPUT_HEAD_TAIL_BYTES;

use super::{Bench, message, write_program};

#[tokio::test]
async fn streams_cwd_and_environment() {
    let mut bench = Bench::new();
    bench.machine.hidden_env = vec!["HOME".to_owned()];
    let script = "echo out; echo err >&2; pwd; echo $STOKER_NODE $A ${HOME-none}; cat";
    bench.run("shell", json!({"cmd": script, "cwd": "/usr", "env": {"A": "a b"}})).await.unwrap();
    assert_eq!(bench.stdout(), "out\n/usr\n1 a b none\n");
    assert_eq!(bench.stderr(), "err\n");
    let started = bench.notes.started.lock();
    assert_eq!(started.len(), 1);
}

#[tokio::test]
async fn start_failures_are_reported_with_a_reason() {
    let bench = Bench::new();
    let message_text = message(bench.run("shell", json!({"cmd": "/no/such/program"})).await);
    assert!(message_text.contains("cannot start `/no/such/program`: No such file"), "{message_text}");
    let message_text =
        message(bench.run("shell", json!({"cmd": "/bin/true", "cwd": "/no/such/folder"})).await);
    assert!(message_text.contains("working directory `/no/such/folder` does not exist"), "{message_text}");
    let message_text = message(bench.run("shell", json!({"cmd": "exit 7"})).await);
    assert!(message_text.contains("exit code 7"), "{message_text}");
}

#[tokio::test]
async fn long_scripts_and_shebang_scripts_run_from_a_file() {
    let bench = Bench::new();
    bench.run("shell", json!({"cmd": "#!/usr/bin/env -S sh -e\necho $0 | sed 's/.*command-.*\\/script/own/'\nfalse\necho no"})).await.unwrap_err();
    assert_eq!(bench.stdout(), "own\n");
    let bench = Bench::new();
    bench
        .run(
            "shell",
            json!({"cmd": format!("echo begin\n{}\n[[ a == a ]] && echo end", "# long\n".repeat(40_000))}),
        )
        .await
        .unwrap();
    assert_eq!(bench.stdout(), "begin\nend\n");
    assert_eq!(std::fs::read_dir(bench.folder.path()).unwrap().count(), 0, "scratch directory is removed");
}

#[tokio::test]
async fn output_is_bounded_and_valid() {
    let bench = Bench::new();
    let script = "printf '\\377first\\n'; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last";
    bench.run("shell", json!({"cmd": script})).await.unwrap();
    let text = bench.stdout();
    assert!(text.starts_with("\u{fffd}first\n"), "{}", &text[..40]);
    assert!(text.ends_with("x\nlast\n"));
    assert!(text.contains("bytes omitted"));
    assert!(text.len() < 2 * OUTPUT_HEAD_TAIL_BYTES + 100);
}

#[tokio::test]
async fn secrets_are_masked_in_output_and_in_messages() {
    let mut bench = Bench::new();
    bench.secrets = vec!["hunter2".to_owned()];
    let script = "printf hun; sleep 0.05; echo ter2; echo no hunter2 >&2; exit 1";
    let failure = bench.run("shell", json!({"cmd": script})).await.unwrap_err();
    assert_eq!(bench.stdout(), "***\n");
    assert_eq!(bench.stderr(), "no ***\n");
    assert!(format!("{failure:?}").contains("no ***"), "{failure:?}");
}

#[tokio::test]
async fn hooks_receive_the_parameters() {
    let mut bench = Bench::new();
    let hook = bench.folder.file("hook");
    write_program(&hook, "#!/bin/sh\ncat\n");
    bench.machine.hooks.insert("erase_node".to_owned(), hook);
    bench.run("erase_node", json!({})).await.unwrap();
    assert_eq!(bench.stdout(), r#"{"task_type":"erase_node","node":"1","parameters":{}}"#);
}

#[tokio::test]
async fn reboot_is_recorded_before_it_starts_and_detected_afterwards() {
    let mut bench = Bench::new();
    bench.machine.boot_id = bench.folder.file("boot_id");
    std::fs::write(&bench.machine.boot_id, "first\n").unwrap();
    let hook = bench.folder.file("reboot");
    write_program(&hook, &format!("#!/bin/sh\necho second > {}\n", bench.machine.boot_id.display()));
    bench.machine.hooks.insert("reboot".to_owned(), hook);
    bench.run("reboot", json!({})).await.unwrap();
    assert_eq!(*bench.notes.boots.lock(), ["first"]);
    bench.machine.hooks.insert("reboot".to_owned(), "/bin/false".into());
    let message_text = message(bench.run("reboot", json!({})).await);
    assert!(message_text.contains("cannot reboot the node: exit code 1"), "{message_text}");
}

#[tokio::test]
async fn message_of_a_silent_module_is_empty() {
    let bench = Bench::new();
    let module = |name: &str, script: &str| {
        json!({"id": name, "name": name, "type": "script", "is_admin": true, "priority_apply": false, "apply_order": 5,
               "contents": STANDARD.encode(format!("#!/bin/sh\n{script}\n"))})
    };
    let modules = [module("a", "echo said by a"), module("b", "exit 0"), module("c", "exit 3")];
    let summary = bench.run("modules", json!({"action": "apply", "modules": modules})).await.unwrap().summary;
    let messages: Vec<&str> =
        summary["modules"].as_array().unwrap().iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["said by a", "", "exit code 3"]);
}
