//! What is asked of one server about what another one does.

use serde_json::json;

use crate::client::Client;
use crate::journal::{judge, n_lines, upload};
use crate::site::{Site, until};

const N_TASKS: usize = 40;

/// Runs are carried out by the first server, which is asked for them; agents are with the second.
fn site() -> Option<Site> {
    let mut site = Site::new(2, &[])?;
    for _ in 0..3 {
        site.start_agent(&[1]);
    }
    Some(site)
}

#[test]
fn a_run_is_paused_resumed_watched_and_stopped_through_another_server() {
    let Some(site) = site() else { return };
    upload(&site, N_TASKS, 20);
    let (run, part) = site.execute(0);
    until("the run goes on", || (n_lines(&site) >= 3).then_some(()));
    assert_eq!(site.driver(part), Some(0));
    let watched = site.client.watch(&site.servers[1], &format!("/api/v1/runs/{run}/events"));
    site.post(1, 202, &format!("/api/v1/runs/{run}/pause"), &json!({}));
    let again = site.post(1, 409, &format!("/api/v1/runs/{run}/pause"), &json!({}));
    assert!(again["message"].as_str().unwrap().contains("paused already"), "{again}");
    site.post(1, 202, &format!("/api/v1/runs/{run}/resume"), &json!({}));
    judge(&site, run, N_TASKS);
    let watched = watched.join().unwrap();
    assert!(watched.contains("event: ended"), "{watched}");
    assert_eq!(watched.matches("event: attempt_ended").count(), N_TASKS * 3);
    let ended = site.post(1, 409, &format!("/api/v1/runs/{run}/resume"), &json!({}));
    assert!(ended["message"].as_str().unwrap().contains("has ended"), "{ended}");

    upload(&site, 400, 20);
    let (run, part) = site.execute(0);
    until("the run goes on", || site.driver(part));
    site.post(1, 202, &format!("/api/v1/runs/{run}/stop"), &json!({}));
    let ended = site.ended(run);
    assert!(n_lines(&site) < 400, "{ended}");
}

#[test]
fn what_is_revoked_at_one_server_is_revoked_at_all() {
    let Some(site) = site() else { return };
    let other = Client::log_in(&site.servers[1]);
    let is_known =
        |server: usize| other.call(&site.servers[server], "GET", "/api/v1/clusters/", None).unwrap().0 == 200;
    assert!(is_known(0) && is_known(1));
    let tokens = site.get(0, "/api/v1/tokens").unwrap();
    let newest = tokens.as_array().unwrap().iter().filter_map(|token| token["id"].as_i64()).max().unwrap();
    let path = format!("/api/v1/tokens/{newest}");
    site.client.expect(204, &site.servers[0], "DELETE", &path, None);
    assert!(!is_known(0));
    until("the other one knows", || (!is_known(1)).then_some(()));

    // An agent is sent away from the server that has it.
    let uid = site.nodes[0].to_string();
    assert!(site.is_connected(0, &uid) && site.is_connected(1, &uid));
    let agents = site.get(0, "/api/v1/agents").unwrap();
    let agent = agents.as_array().unwrap().iter().find(|agent| agent["uid"] == uid.as_str()).unwrap();
    let path = format!("/api/v1/agents/{}", agent["id"]);
    site.client.expect(204, &site.servers[0], "DELETE", &path, None);
    until("it is cut off", || {
        site.read("agent-0.log").contains("does not accept the credential").then_some(())
    });
}
