//! The driver of a run is suspended for longer than its lease, and resumes.

use nix::sys::signal::Signal;

use crate::journal::{n_lines, upload, verify_run};
use crate::site::{Site, until};

const N_TASKS: usize = 50;

#[test]
fn suspended_server_loses_its_lease() {
    let Some(mut site) = Site::new(2, &["--lease", "2"]) else { return };
    // One agent depends on the suspended server, one is not affected, one can use either.
    site.start_agent(&[0]);
    site.start_agent(&[1]);
    site.start_agent(&[1, 0]);
    upload(&site, N_TASKS, 30);
    let (run, child) = site.execute(0);
    for n_done in [15, 60] {
        until("the run progresses", || (n_lines(&site) >= n_done).then_some(()));
        let driver = until("the run has a driver", || site.driver(child));
        let generation = site.generation(child);
        site.signal_server(driver, Signal::SIGSTOP);
        until("the other server takes over", || (site.generation(child) > generation).then_some(()));
        let n_before = n_lines(&site);
        until("the run progresses on the other server", || (n_lines(&site) > n_before).then_some(()));
        site.signal_server(driver, Signal::SIGCONT);
    }
    verify_run(&site, run, N_TASKS);
    // Both servers still work.
    for server in 0..2 {
        until("the server responds", || site.get(server, "/api/v1/version"));
    }
}
