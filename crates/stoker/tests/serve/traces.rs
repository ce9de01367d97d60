//! One trace from a request to what a task does on a node: a server, agents and a collector, each at a port or a process of
//! its own.

use serde_json::{Value, json};
use stoker_testkit::{Collected, Collector};

use crate::process::PASSWORD;
use crate::site::{Site, until};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const KEY: &str = "hunter2-of-the-collector";

fn task(name: &str, role: &str, cmd: &str) -> Value {
    json!({
        "id": name, "type": "shell", "version": "2.1.0", "roles": [role],
        "parameters": {"cmd": cmd, "retries": 0, "timeout": 60},
    })
}

fn execute(site: &Site) -> i64 {
    let client = site.client.under(&format!("00-{TRACE}-{CALLER}-01"));
    let body = json!({"cluster": site.cluster, "graphs": [{"type": "default"}], "force": true});
    client.expect(202, "POST", "/api/v1/graphs/execute", Some(&body))["id"].as_i64().unwrap()
}

/// The only one of this name, or the only one about this task.
#[track_caller]
fn only<'a>(spans: &'a [Collected], name: &str, task: &str) -> &'a Collected {
    let mut found = spans.iter().filter(|span| span.name == name && span.attribute("stoker.task.id") == task);
    let first = found.next().unwrap_or_else(|| panic!("{name} {task} is not in {spans:#?}"));
    assert_eq!(found.next(), None, "two of {name} {task}");
    first
}

#[test]
fn one_trace_goes_from_a_request_to_its_tasks() {
    let collector = Collector::start(&[]);
    let headers = format!("api-key={KEY}");
    let site = Site::with_env(
        &json!([]),
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
            ("OTEL_EXPORTER_OTLP_HEADERS", &headers),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ],
    );
    let told = site.file("told").display().to_string();
    let cmd = format!("echo \"$TRACEPARENT|$OTEL_EXPORTER_OTLP_HEADERS\" >{told}; echo a-secret-{PASSWORD}");
    site.upload(&json!([task("well", "controller", &cmd), task("ill", "compute", "exit 3")]));
    let ended = site.ended(execute(&site));
    assert_eq!(ended["status"], "error", "{ended}");
    let spans = until("all spans are there", || {
        let mut spans = collector.spans();
        spans.retain(|span| span.trace == TRACE);
        let n_agents = spans.iter().filter(|span| span.service == "stoker-agent").count();
        (n_agents == 2 && spans.iter().any(|span| span.name == "run")).then_some(spans)
    });
    let request = only(&spans, "POST /api/v1/graphs/execute", "");
    assert_eq!((request.parent.as_str(), request.has_failed), (CALLER, false));
    assert_eq!(request.attribute("http.response.status_code"), "202");
    assert_eq!(request.attribute("user.name"), "admin");
    let run = only(&spans, "run", "");
    assert_eq!((&run.parent, run.has_failed), (&request.id, true));
    assert_eq!(run.attribute("stoker.run.status"), "error");
    let plan = only(&spans, "plan", "");
    assert_eq!((&plan.parent, plan.has_failed), (&run.id, false));
    for (name, node, code) in [("well", site.nodes[0], "0"), ("ill", site.nodes[1], "3")] {
        let attempt = only(&spans, "attempt", name);
        let on_node = only(&spans, "task", name);
        assert_eq!(attempt.service, "stoker-server");
        assert_eq!(on_node.service, "stoker-agent");
        assert_eq!((&attempt.parent, &on_node.parent), (&run.id, &attempt.id), "{name}");
        assert_eq!(on_node.attribute("stoker.task.type"), "shell");
        for span in [attempt, on_node] {
            assert_eq!(span.attribute("stoker.node"), node.to_string());
            assert_eq!(span.has_failed, name == "ill", "{span:?}");
        }
        assert_eq!(on_node.attribute("process.exit.code"), code);
    }
    // The task knows where it belongs, and not the key of the collector.
    let on_node = only(&spans, "task", "well");
    assert_eq!(site.read("told").trim(), format!("00-{TRACE}-{}-01|", on_node.id));
    for head in collector.heads() {
        assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
        assert!(head.contains("application/x-protobuf") && head.contains(KEY), "{head}");
    }
    let everything = format!("{:?}", collector.spans());
    for secret in [KEY, PASSWORD, "a-secret"] {
        assert!(!everything.contains(secret), "{secret} was told to the collector");
    }
}

#[test]
fn a_collector_that_is_away_costs_a_line() {
    let site = Site::with_env(
        &json!([task("well", "controller", "true")]),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_BSP_SCHEDULE_DELAY", "20")],
    );
    let complaints = |log: &str| site.read(log).matches("does not take traces").count();
    for _ in 0..3 {
        assert_eq!(site.ended(execute(&site))["status"], "ready");
        until("it is noticed", || (complaints("server.log") > 0).then_some(()));
    }
    until("the agent notices too", || (complaints("agent-0.log") > 0).then_some(()));
    assert_eq!((complaints("server.log"), complaints("agent-0.log")), (1, 1));
}

#[test]
fn variables_that_mean_nothing_are_told_and_stop_nobody() {
    let site = Site::with_env(
        &json!([task("well", "controller", "true")]),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"), ("OTEL_TRACES_SAMPLER", "sometimes")],
    );
    assert_eq!(site.ended(execute(&site))["status"], "ready");
    let log = site.read("server.log");
    assert_eq!(log.matches("no traces are sent").count(), 2, "{log}");
}
