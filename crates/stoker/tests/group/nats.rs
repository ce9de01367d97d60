//! Servers that speak through NATS, and agents that do so with whichever of them takes their call.

use crate::guarded::Guarded;
use crate::journal::{judge, n_lines, upload};
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 60;

#[test]
fn servers_are_killed_and_nats_is_away_and_agents_on_it_go_on() {
    let Some(mut guarded) = Guarded::start() else { return };
    let mut options = guarded.server_options();
    options.extend(["--lease".to_owned(), "2".to_owned()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(mut site) = Site::new(2, &options) else { return };
    site.agent_options = vec!["--nats".to_owned(), guarded.nats.url()];
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    assert!(site.read("agent-0.log").contains("through NATS"), "{}", site.read("agent-0.log"));
    upload(&site, N_TASKS, 50);
    let (run, part) = site.execute(0);
    for n_killed in 0..4 {
        until("the run goes on", || (n_lines(&site) >= n_killed * 30).then_some(()));
        if n_killed == 1 {
            guarded.nats.stop();
            guarded.nats.start();
        }
        let driver = until("somebody carries the run out", || site.driver(part));
        site.kill_server(driver);
        site.start_server(driver);
    }
    assert!(n_lines(&site) < N_TASKS * N_NODES, "it was killed too late to prove anything");
    judge(&site, run, N_TASKS);
}
