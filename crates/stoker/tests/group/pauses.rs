//! Whoever carries a run out hangs for longer than it may, and comes back.

use nix::sys::signal::Signal;

use crate::journal::{judge, n_lines, upload};
use crate::site::{Site, until};

const N_TASKS: usize = 50;

#[test]
fn a_server_that_hung_finds_its_run_in_other_hands() {
    let Some(mut site) = Site::new(2, &["--lease", "2"]) else { return };
    // One agent hangs with its server, one does not notice, one could go either way.
    site.start_agent(&[0]);
    site.start_agent(&[1]);
    site.start_agent(&[1, 0]);
    upload(&site, N_TASKS, 30);
    let (run, part) = site.execute(0);
    for n_done in [15, 60] {
        until("the run goes on", || (n_lines(&site) >= n_done).then_some(()));
        let driver = until("somebody carries the run out", || site.driver(part));
        let generation = site.generation(part);
        site.signal_server(driver, Signal::SIGSTOP);
        until("the other one takes over", || (site.generation(part) > generation).then_some(()));
        let n_before = n_lines(&site);
        until("the other one goes on", || (n_lines(&site) > n_before).then_some(()));
        site.signal_server(driver, Signal::SIGCONT);
    }
    judge(&site, run, N_TASKS);
    // Both are as good as before.
    for server in 0..2 {
        until("it answers", || site.get(server, "/api/v1/version"));
    }
}
