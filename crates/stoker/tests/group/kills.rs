//! The driver of a run is killed repeatedly, and another server takes over. The time of a kill depends on the
//! progress of the run, and the driver is always the victim: there is no random choice, so there is no seed.

use std::time::{Duration, Instant};

use crate::journal::{n_lines, upload, verify_run};
use crate::site::{LONG, N_NODES, Site, until};

const N_TASKS: usize = 110;
const N_KILLS: usize = 20;

#[test]
fn run_survives_twenty_kills_of_its_driver() {
    let Some(mut site) = Site::new(3, &["--lease", "2"]) else { return };
    site.start_agent(&[0, 1, 2]);
    site.start_agent(&[1, 2, 0]);
    site.start_agent(&[2, 0, 1]);
    upload(&site, N_TASKS, 20);
    let (run, child) = site.execute(0);
    let n_instances = N_TASKS * N_NODES;
    let started_at = Instant::now();
    for n_killed in 0..N_KILLS {
        let n_done = n_killed * (n_instances - 60) / N_KILLS;
        until("the run progresses", || (n_lines(&site) >= n_done).then_some(()));
        let driver = until("the run has a driver", || site.driver(child));
        site.kill_server(driver);
        site.start_server(driver);
        assert!(started_at.elapsed() < LONG, "{} of {n_instances} after {n_killed} kills", n_lines(&site));
    }
    assert!(n_lines(&site) < n_instances, "the run ended before the last kill");
    verify_run(&site, run, N_TASKS);
    assert!(site.generation(child) > N_KILLS as i64 / 2, "other servers took the run over");
}

#[test]
fn stopping_server_hands_over_immediately() {
    // Longer than the test: no takeover by an expired lease.
    let Some(mut site) = Site::new(2, &["--lease", "60"]) else { return };
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    upload(&site, 30, 50);
    let (run, child) = site.execute(0);
    until("the run progresses", || (n_lines(&site) >= 10).then_some(()));
    assert_eq!(site.driver(child), Some(0));
    site.terminate_server(0);
    let terminated_at = Instant::now();
    until("the other server takes over", || site.driver(child).filter(|driver| *driver == 1));
    assert!(terminated_at.elapsed() < Duration::from_secs(20), "{:?}", terminated_at.elapsed());
    verify_run(&site, run, 30);
}
