//! Whoever carries a run out is killed, again and again, and another goes on with it.

use std::time::{Duration, Instant};

use crate::journal::{judge, n_lines, upload};
use crate::site::{LONG, N_NODES, Site, until};

const N_TASKS: usize = 110;
const N_KILLS: usize = 20;

#[test]
fn the_driving_server_is_killed_twenty_times() {
    let Some(mut site) = Site::new(3, &["--lease", "2"]) else { return };
    site.start_agent(&[0, 1, 2]);
    site.start_agent(&[1, 2, 0]);
    site.start_agent(&[2, 0, 1]);
    upload(&site, N_TASKS, 20);
    let (run, part) = site.execute(0);
    let n_instances = N_TASKS * N_NODES;
    let began = Instant::now();
    for n_killed in 0..N_KILLS {
        let n_done = n_killed * (n_instances - 60) / N_KILLS;
        until("the run goes on", || (n_lines(&site) >= n_done).then_some(()));
        let driver = until("somebody carries the run out", || site.driver(part));
        site.kill_server(driver);
        site.start_server(driver);
        assert!(began.elapsed() < LONG, "{} of {n_instances} after {n_killed} kills", n_lines(&site));
    }
    assert!(n_lines(&site) < n_instances, "it was killed too late to prove anything");
    judge(&site, run, N_TASKS);
    assert!(site.generation(part) > N_KILLS as i64 / 2, "others took the run over");
}

#[test]
fn a_server_that_ends_hands_over_at_once() {
    // Nobody could take a run over before that.
    let Some(mut site) = Site::new(2, &["--lease", "60"]) else { return };
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    upload(&site, 30, 50);
    let (run, part) = site.execute(0);
    until("the run goes on", || (n_lines(&site) >= 10).then_some(()));
    assert_eq!(site.driver(part), Some(0));
    site.terminate_server(0);
    let ended = Instant::now();
    until("the other one takes over", || site.driver(part).filter(|driver| *driver == 1));
    assert!(ended.elapsed() < Duration::from_secs(20), "{:?}", ended.elapsed());
    judge(&site, run, 30);
}
