//! Servers that communicate through NATS, and agents that connect to any of them over it.

use crate::journal::{n_lines, upload, verify_run};
use crate::secured_nats::SecuredNats;
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 60;

#[test]
fn run_over_nats_survives_server_kills_and_a_nats_restart() {
    let Some(mut secured_nats) = SecuredNats::start() else { return };
    let mut options = secured_nats.server_options();
    options.extend(["--lease".to_owned(), "2".to_owned()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(mut site) = Site::new(2, &options) else { return };
    site.agent_options = vec!["--nats".to_owned(), secured_nats.nats.url()];
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    assert!(site.read("agent-0.log").contains("through NATS"), "{}", site.read("agent-0.log"));
    upload(&site, N_TASKS, 50);
    let (run, child) = site.execute(0);
    for n_killed in 0..4 {
        until("the run progresses", || (n_lines(&site) >= n_killed * 30).then_some(()));
        if n_killed == 1 {
            secured_nats.nats.kill();
            secured_nats.nats.start();
        }
        let driver = until("the run has a driver", || site.driver(child));
        site.kill_server(driver);
        site.start_server(driver);
    }
    assert!(n_lines(&site) < N_TASKS * N_NODES, "the run ended before the last kill");
    verify_run(&site, run, N_TASKS);
}
