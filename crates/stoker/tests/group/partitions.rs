//! Network partitions between servers and agents that last longer than both timeouts.

use std::time::{Duration, Instant};

use crate::journal::{n_lines, upload, verify_run};
use crate::network_namespace::NetworkNamespace;
use crate::secured_nats::SecuredNats;
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 100;
/// Maximum time to detect a partition. Agents drop a silent server after 25 s; servers drop a silent agent
/// after 30 s and check every 5 s.
const DETECTION_MAX: Duration = Duration::from_secs(40);
/// Upper bound for an idle agent to detect the partition, with a margin for a busy machine.
const SILENCE_MAX: Duration = Duration::from_secs(30);

#[test]
fn link_down_is_survived() {
    let Some(namespace) = NetworkNamespace::new() else { return };
    let Some(mut site) = Site::in_namespace(&namespace, &[]) else { return };
    run_with_partition(&mut site, || namespace.link_down(), || namespace.link_up());
}

#[test]
fn silent_packet_loss_is_survived() {
    let Some(namespace) = NetworkNamespace::new() else { return };
    let Some(mut site) = Site::in_namespace(&namespace, &[]) else { return };
    let partition =
        run_with_partition(&mut site, || namespace.drop_packets(), || namespace.restore_packets());
    for idx in 0..N_NODES {
        let log = site.read(&format!("agent-{idx}.log"));
        let is_detected = log.contains("timeout while waiting for the server")
            || log.contains("timeout while sending to the server");
        assert!(is_detected, "the agent did not detect the silent partition: {log}");
    }
    assert!(partition.agents < SILENCE_MAX, "agents detected the partition after {:?}", partition.agents);
}

#[test]
fn silent_packet_loss_between_agents_and_nats_is_survived() {
    let Some(namespace) = NetworkNamespace::new() else { return };
    let Some(secured_nats) = SecuredNats::start_at(namespace.outer_address.into()) else { return };
    let options = secured_nats.server_options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(mut site) = Site::in_namespace(&namespace, &options) else { return };
    site.agent_options = vec!["--nats".to_owned(), secured_nats.nats.url()];
    run_with_partition(&mut site, || namespace.drop_packets(), || namespace.restore_packets());
    assert!(site.read("agent-0.log").contains("through NATS"), "{}", site.read("agent-0.log"));
}

/// Time until the partition was detected.
struct DetectionTimes {
    agents: Duration,
}

fn run_with_partition(site: &mut Site, partition: impl Fn(), heal: impl Fn()) -> DetectionTimes {
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    upload(site, N_TASKS, 50);
    let (run, _) = site.execute(0);
    until("the run progresses", || (n_lines(site) >= 45).then_some(()));
    let n_losses = |site: &Site| -> Vec<usize> {
        let log = |idx: usize| site.read(&format!("agent-{idx}.log"));
        (0..N_NODES).map(|idx| log(idx).matches("connection lost").count()).collect()
    };
    let n_before = n_losses(site);
    partition();
    let started_at = Instant::now();
    until("all agents detect the partition", || {
        let n_now = n_losses(site);
        n_now.iter().zip(&n_before).all(|(n_now, n_before)| n_now > n_before).then_some(())
    });
    let agents = started_at.elapsed();
    let uids: Vec<String> = site.nodes.iter().map(ToString::to_string).collect();
    until("the servers consider all agents disconnected", || {
        uids.iter().all(|uid| !site.is_connected(0, uid) && !site.is_connected(1, uid)).then_some(())
    });
    std::thread::sleep(DETECTION_MAX.saturating_sub(started_at.elapsed()));
    let details = site.get(0, &format!("/api/v1/transactions/{run}")).unwrap();
    assert_eq!(details["status"], "running", "the run ended before the partition healed");
    heal();
    verify_run(site, run, N_TASKS);
    DetectionTimes { agents }
}
