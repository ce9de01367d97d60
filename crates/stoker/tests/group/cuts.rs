//! The network between servers and agents is cut for longer than either side waits for the other, and comes back.

use std::time::{Duration, Instant};

use crate::guarded::Guarded;
use crate::island::Island;
use crate::journal::{judge, n_lines, upload};
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 100;
/// Agents give a server up that says nothing for 25 seconds; servers wait for agents for 30, and look every five.
const NOTICED_MAX: Duration = Duration::from_secs(40);
/// Of one that sends nothing itself, on a machine that has other things to do, too.
const SILENCE_MAX: Duration = Duration::from_secs(30);

#[test]
fn a_cable_is_pulled_out() {
    let Some(island) = Island::new() else { return };
    let Some(mut site) = Site::on_island(&island, &[]) else { return };
    run_through(&mut site, || island.pull_out(), || island.plug_in());
}

#[test]
fn a_network_swallows_everything() {
    let Some(island) = Island::new() else { return };
    let Some(mut site) = Site::on_island(&island, &[]) else { return };
    let cut = run_through(&mut site, || island.swallow(), || island.carry_again());
    for place in 0..N_NODES {
        let log = site.read(&format!("agent-{place}.log"));
        let is_noticed =
            log.contains("nothing is heard from the server") || log.contains("the server takes nothing");
        assert!(is_noticed, "it took the other side for dead without a sign: {log}");
    }
    assert!(cut.agents < SILENCE_MAX, "agents noticed after {:?}", cut.agents);
}

#[test]
fn a_network_swallows_everything_between_agents_and_nats() {
    let Some(island) = Island::new() else { return };
    let Some(guarded) = Guarded::start_at(island.here.into()) else { return };
    let options = guarded.server_options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(mut site) = Site::on_island(&island, &options) else { return };
    site.agent_options = vec!["--nats".to_owned(), guarded.nats.url()];
    run_through(&mut site, || island.swallow(), || island.carry_again());
    assert!(site.read("agent-0.log").contains("through NATS"), "{}", site.read("agent-0.log"));
}

/// How long it took to be noticed.
struct Cut {
    agents: Duration,
}

fn run_through(site: &mut Site, cut: impl Fn(), join: impl Fn()) -> Cut {
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    upload(site, N_TASKS, 50);
    let (run, _) = site.execute(0);
    until("the run goes on", || (n_lines(site) >= 45).then_some(()));
    let n_losses = |site: &Site| -> Vec<usize> {
        let log = |place: usize| site.read(&format!("agent-{place}.log"));
        (0..N_NODES).map(|place| log(place).matches("the connection is lost").count()).collect()
    };
    let before = n_losses(site);
    cut();
    let began = Instant::now();
    until("all agents notice", || {
        let now = n_losses(site);
        now.iter().zip(&before).all(|(now, before)| now > before).then_some(())
    });
    let agents = began.elapsed();
    let uids: Vec<String> = site.nodes.iter().map(ToString::to_string).collect();
    until("the servers miss all agents", || {
        uids.iter().all(|uid| !site.is_connected(0, uid) && !site.is_connected(1, uid)).then_some(())
    });
    std::thread::sleep(NOTICED_MAX.saturating_sub(began.elapsed()));
    let shown = site.get(0, &format!("/api/v1/transactions/{run}")).unwrap();
    assert_eq!(shown["status"], "running", "it was cut too late to prove anything");
    join();
    judge(site, run, N_TASKS);
    Cut { agents }
}
