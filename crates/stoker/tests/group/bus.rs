//! Messages between servers use NATS, and fall back to the database while it is unavailable.

use std::time::Duration;

use stoker_testkit::{PrivatePostgres, TestNats};

use crate::journal::{n_lines, upload, verify_run};
use crate::site::{Site, until};

const N_TASKS: usize = 60;

#[test]
fn run_continues_while_nats_is_unavailable() {
    let Some(mut nats) = TestNats::start_open() else { return };
    let Some(postgres) = PrivatePostgres::start() else { return };
    let mut site = Site::on(postgres.database(), 2, &["--lease", "4", "--nats", &nats.url()]);
    for _ in 0..3 {
        site.start_agent(&[1]);
    }
    upload(&site, N_TASKS, 20);
    let (run, child) = site.execute(0);
    for n_done in [30, 100] {
        until("the run progresses", || (n_lines(&site) >= n_done).then_some(()));
        assert_eq!(site.driver(child), Some(0), "the agents are connected to the other server");
        nats.kill();
        let n_before = n_lines(&site);
        until("the run progresses without NATS", || (n_lines(&site) >= n_before + 6).then_some(()));
        nats.start();
        std::thread::sleep(Duration::from_millis(200));
    }
    verify_run(&site, run, N_TASKS);
    drop(site);
}
