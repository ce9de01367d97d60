//! Letters between servers go over NATS where there is one, and through the database while it is away.

use std::time::Duration;

use stoker_testkit::{OwnPostgres, TestNats};

use crate::journal::{judge, n_lines, upload};
use crate::site::{Site, until};

const N_TASKS: usize = 60;

#[test]
fn a_run_goes_on_while_nats_is_away() {
    let Some(mut nats) = TestNats::open() else { return };
    let Some(postgres) = OwnPostgres::start_new() else { return };
    let mut site = Site::on(postgres.database(), 2, &["--lease", "4", "--nats", &nats.url()]);
    for _ in 0..3 {
        site.start_agent(&[1]);
    }
    upload(&site, N_TASKS, 20);
    let (run, part) = site.execute(0);
    for n_done in [30, 100] {
        until("the run goes on", || (n_lines(&site) >= n_done).then_some(()));
        assert_eq!(site.driver(part), Some(0), "the agents are with the other one");
        nats.stop();
        let n_before = n_lines(&site);
        until("the run goes on without NATS", || (n_lines(&site) >= n_before + 6).then_some(()));
        nats.start();
        std::thread::sleep(Duration::from_millis(200));
    }
    judge(&site, run, N_TASKS);
    drop(site);
}
