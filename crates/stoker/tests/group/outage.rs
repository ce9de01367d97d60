//! The database becomes unavailable during a run and comes back.

use std::time::Duration;

use stoker_testkit::PrivatePostgres;

use crate::journal::{n_lines, upload, verify_run};
use crate::site::{Site, until};

const N_TASKS: usize = 40;

#[test]
fn run_survives_database_outages() {
    let Some(mut postgres) = PrivatePostgres::start() else { return };
    let mut site = Site::on(postgres.database(), 2, &["--lease", "2"]);
    site.start_agent(&[0]);
    site.start_agent(&[1]);
    site.start_agent(&[0, 1]);
    upload(&site, N_TASKS, 30);
    let (run, _) = site.execute(0);
    for (n_done, outage_ms) in [(20, 200), (60, 4000)] {
        until("the run progresses", || (n_lines(&site) >= n_done).then_some(()));
        postgres.stop();
        std::thread::sleep(Duration::from_millis(outage_ms));
        postgres.resume();
    }
    verify_run(&site, run, N_TASKS);
    drop(site);
}
