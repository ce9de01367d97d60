//! Results that NATS stores until a server has received them.

use serde_json::json;

use crate::journal::{n_lines, upload, verify_run};
use crate::secured_nats::SecuredNats;
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 60;

fn start_site(secured_nats: &SecuredNats) -> Option<Site> {
    let mut options = secured_nats.server_options();
    options.extend(["--lease".to_owned(), "2".to_owned()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut site = Site::new(2, &options)?;
    site.agent_options = vec!["--nats".to_owned(), secured_nats.nats.url()];
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    Some(site)
}

/// Returns the number of occurrences of `message` in the logs of all servers or agents.
fn count_in_logs(site: &Site, process: &str, n: usize, message: &str) -> usize {
    (0..n).map(|idx| site.read(&format!("{process}-{idx}.log")).matches(message).count()).sum()
}

/// Waits until the servers have logged `n` times that NATS stores results for them.
fn await_result_stream(site: &Site, n: usize) {
    until("both servers consume results from NATS", || {
        (count_in_logs(site, "server", 2, "consuming results from the NATS result stream") >= n).then_some(())
    });
}

#[test]
fn result_of_a_lost_machine_is_recorded() {
    let Some(secured_nats) = SecuredNats::start() else { return };
    let Some(mut site) = start_site(&secured_nats) else { return };
    await_result_stream(&site, 2);
    let folder = site.file("");
    // The task ends only after all servers are stopped.
    let cmd = format!(
        "cd {}\necho \"$STOKER_ATTEMPT\" >>attempts-$STOKER_NODE\nwhile [ ! -e go ]; do sleep 0.05; done\n\
         echo t-000 >>lines-$STOKER_NODE\n",
        folder.display()
    );
    site.upload(&json!([{
        "id": "t-000", "type": "shell", "version": "2.0.0", "roles": "*",
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 0},
    }]));
    let (run, child) = site.execute(0);
    until("all tasks have started", || {
        let events = site.get(0, &format!("/api/v1/runs/{child}/events?limit=1000"))?;
        let n_started = events.as_array()?.iter().filter(|event| event["kind"] == "started").count();
        (n_started == N_NODES).then_some(())
    });
    for server in 0..2 {
        site.kill_server(server);
    }
    std::fs::write(site.file("go"), "").unwrap();
    until("NATS stores all results", || {
        (count_in_logs(&site, "agent", N_NODES, "result published to NATS") == N_NODES).then_some(())
    });
    site.lose_agents();
    for server in 0..2 {
        site.start_server(server);
    }
    verify_run(&site, run, 1);
}

#[test]
fn run_survives_the_loss_of_the_result_stream() {
    let Some(mut secured_nats) = SecuredNats::start() else { return };
    let Some(site) = start_site(&secured_nats) else { return };
    await_result_stream(&site, 2);
    upload(&site, N_TASKS, 50);
    let (run, _) = site.execute(0);
    until("the run progresses", || (n_lines(&site) >= 30).then_some(()));
    secured_nats.nats.kill();
    for account in std::fs::read_dir(secured_nats.folder.file("nats/jetstream/jetstream")).unwrap() {
        std::fs::remove_dir_all(account.unwrap().path().join("streams")).unwrap();
    }
    secured_nats.nats.start();
    assert!(n_lines(&site) < N_TASKS * N_NODES, "the run ended before the stream was lost");
    verify_run(&site, run, N_TASKS);
    // The first server that notices recreates the stream.
    await_result_stream(&site, 4);
}
