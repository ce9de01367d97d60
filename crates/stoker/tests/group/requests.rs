//! Requests to one server about runs and agents of another.

use serde_json::json;

use crate::client::Client;
use crate::journal::{n_lines, upload, verify_run};
use crate::site::{Site, until};

const N_TASKS: usize = 40;

/// Creates a site where the first server drives all runs and agents are connected to the second.
fn site() -> Option<Site> {
    let mut site = Site::new(2, &[])?;
    for _ in 0..3 {
        site.start_agent(&[1]);
    }
    Some(site)
}

#[test]
fn run_is_controlled_through_another_server() {
    let Some(site) = site() else { return };
    upload(&site, N_TASKS, 20);
    let (run, child) = site.execute(0);
    until("the run progresses", || (n_lines(&site) >= 3).then_some(()));
    assert_eq!(site.driver(child), Some(0));
    let stream = site.client.watch(&site.servers[1], &format!("/api/v1/runs/{run}/events"));
    site.post(1, 202, &format!("/api/v1/runs/{run}/pause"), &json!({}));
    let response = site.post(1, 409, &format!("/api/v1/runs/{run}/pause"), &json!({}));
    assert!(response["message"].as_str().unwrap().contains("already paused"), "{response}");
    site.post(1, 202, &format!("/api/v1/runs/{run}/resume"), &json!({}));
    verify_run(&site, run, N_TASKS);
    let stream = stream.join().unwrap();
    assert!(stream.contains("event: ended"), "{stream}");
    assert_eq!(stream.matches("event: attempt_ended").count(), N_TASKS * 3);
    let details = site.post(1, 409, &format!("/api/v1/runs/{run}/resume"), &json!({}));
    assert!(details["message"].as_str().unwrap().contains("has ended"), "{details}");

    upload(&site, 400, 20);
    let (run, child) = site.execute(0);
    until("the run progresses", || site.driver(child));
    site.post(1, 202, &format!("/api/v1/runs/{run}/stop"), &json!({}));
    let details = site.wait_for_end(run);
    assert!(n_lines(&site) < 400, "{details}");
}

#[test]
fn revocation_applies_to_all_servers() {
    let Some(site) = site() else { return };
    let other = Client::log_in(&site.servers[1]);
    let is_accepted =
        |server: usize| other.call(&site.servers[server], "GET", "/api/v1/clusters/", None).unwrap().0 == 200;
    assert!(is_accepted(0) && is_accepted(1));
    let tokens = site.get(0, "/api/v1/tokens").unwrap();
    let newest = tokens.as_array().unwrap().iter().filter_map(|token| token["id"].as_i64()).max().unwrap();
    let path = format!("/api/v1/tokens/{newest}");
    site.client.expect(204, &site.servers[0], "DELETE", &path, None);
    assert!(!is_accepted(0));
    until("the other server rejects the token", || (!is_accepted(1)).then_some(()));

    // Revoking an agent disconnects it from the server it is connected to.
    let uid = site.nodes[0].to_string();
    assert!(site.is_connected(0, &uid) && site.is_connected(1, &uid));
    let agents = site.get(0, "/api/v1/agents").unwrap();
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap();
    let path = format!("/api/v1/agents/{}", agent["id"]);
    site.client.expect(204, &site.servers[0], "DELETE", &path, None);
    until("the agent is disconnected", || {
        site.read("agent-0.log").contains("rejected the agent's credential").then_some(())
    });
}
