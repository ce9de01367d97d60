//! A trace from a request to a task on a node, with a server, agents and a collector.

use serde_json::{Value, json};
use stoker_testkit::{CollectedSpan, Collector};

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
    let client = site.client.with_traceparent(&format!("00-{TRACE}-{CALLER}-01"));
    let body = json!({"cluster": site.cluster, "graphs": [{"type": "default"}], "force": true});
    client.expect(202, "POST", "/api/v1/graphs/execute", Some(&body))["id"].as_i64().unwrap()
}

/// Returns the only span with this name and task.
#[track_caller]
fn find_span<'a>(spans: &'a [CollectedSpan], name: &str, task: &str) -> &'a CollectedSpan {
    let mut matching =
        spans.iter().filter(|span| span.name == name && span.attribute("stoker.task.id") == task);
    let first = matching.next().unwrap_or_else(|| panic!("{name} {task} is not in {spans:#?}"));
    assert_eq!(matching.next(), None, "two of {name} {task}");
    first
}

#[test]
fn trace_spans_request_run_and_tasks() {
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
    let environment_file = site.file("environment").display().to_string();
    let cmd = format!(
        "echo \"$TRACEPARENT|$OTEL_EXPORTER_OTLP_HEADERS\" >{environment_file}; echo a-secret-{PASSWORD}"
    );
    let mut ill = task("ill", "compute", "exit 3");
    // Otherwise its failure may exceed the fault tolerance before the agent of the other node has connected.
    ill["cross-depends"] = json!([{"name": "well", "role": "controller"}]);
    site.upload(&json!([task("well", "controller", &cmd), ill]));
    let details = site.wait_for_end(execute(&site));
    assert_eq!(details["status"], "error", "{details}");
    let spans = until("all spans are there", || {
        let mut spans = collector.spans();
        spans.retain(|span| span.trace == TRACE);
        let n_agents = spans.iter().filter(|span| span.service == "stoker-agent").count();
        (n_agents == 2 && spans.iter().any(|span| span.name == "run")).then_some(spans)
    });
    let request = find_span(&spans, "POST /api/v1/graphs/execute", "");
    assert_eq!((request.parent.as_str(), request.is_error), (CALLER, false));
    assert_eq!(request.attribute("http.response.status_code"), "202");
    assert_eq!(request.attribute("user.name"), "admin");
    let run = find_span(&spans, "run", "");
    assert_eq!((&run.parent, run.is_error), (&request.id, true));
    assert_eq!(run.attribute("stoker.run.status"), "error");
    let plan = find_span(&spans, "plan", "");
    assert_eq!((&plan.parent, plan.is_error), (&run.id, false));
    for (name, node, code) in [("well", site.nodes[0], "0"), ("ill", site.nodes[1], "3")] {
        let attempt = find_span(&spans, "attempt", name);
        let on_node = find_span(&spans, "task", name);
        assert_eq!(attempt.service, "stoker-server");
        assert_eq!(on_node.service, "stoker-agent");
        assert_eq!((&attempt.parent, &on_node.parent), (&run.id, &attempt.id), "{name}");
        assert_eq!(on_node.attribute("stoker.task.type"), "shell");
        for span in [attempt, on_node] {
            assert_eq!(span.attribute("stoker.node"), node.to_string());
            assert_eq!(span.is_error, name == "ill", "{span:?}");
        }
        assert_eq!(on_node.attribute("process.exit.code"), code);
    }
    // The task gets the trace context, but not the key of the collector.
    let on_node = find_span(&spans, "task", "well");
    assert_eq!(site.read("environment").trim(), format!("00-{TRACE}-{}-01|", on_node.id));
    for head in collector.request_heads() {
        assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
        assert!(head.contains("application/x-protobuf") && head.contains(KEY), "{head}");
    }
    let everything = format!("{:?}", collector.spans());
    for secret in [KEY, PASSWORD, "a-secret"] {
        assert!(!everything.contains(secret), "{secret} was sent to the collector");
    }
}

#[test]
fn unavailable_collector_is_logged_once() {
    let site = Site::with_env(
        &json!([task("well", "controller", "true")]),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_BSP_SCHEDULE_DELAY", "20")],
    );
    let n_warnings = |log: &str| site.read(log).matches("does not accept traces").count();
    for _ in 0..3 {
        assert_eq!(site.wait_for_end(execute(&site))["status"], "ready");
        until("the server logs a warning", || (n_warnings("server.log") > 0).then_some(()));
    }
    until("the agent logs a warning", || (n_warnings("agent-0.log") > 0).then_some(()));
    assert_eq!((n_warnings("server.log"), n_warnings("agent-0.log")), (1, 1));
}

#[test]
fn invalid_trace_variables_only_disable_tracing() {
    let site = Site::with_env(
        &json!([task("well", "controller", "true")]),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector"), ("OTEL_TRACES_SAMPLER", "sometimes")],
    );
    assert_eq!(site.wait_for_end(execute(&site))["status"], "ready");
    let log = site.read("server.log");
    assert_eq!(log.matches("trace export is disabled").count(), 2, "{log}");
}
