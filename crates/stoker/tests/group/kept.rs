//! Results that NATS keeps until a server has them.

use serde_json::json;

use crate::guarded::Guarded;
use crate::journal::{judge, n_lines, upload};
use crate::site::{N_NODES, Site, until};

const N_TASKS: usize = 60;

fn site(guarded: &Guarded) -> Option<Site> {
    let mut options = guarded.server_options();
    options.extend(["--lease".to_owned(), "2".to_owned()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut site = Site::new(2, &options)?;
    site.agent_options = vec!["--nats".to_owned(), guarded.nats.url()];
    for _ in 0..N_NODES {
        site.start_agent(&[0, 1]);
    }
    Some(site)
}

/// How often all of them together said it.
fn said(site: &Site, who: &str, n: usize, what: &str) -> usize {
    (0..n).map(|place| site.read(&format!("{who}-{place}.log")).matches(what).count()).sum()
}

/// Servers have told so often that NATS keeps results for them.
fn await_keeping(site: &Site, n: usize) {
    until("both servers take what NATS keeps", || {
        (said(site, "server", 2, "NATS keeps results of agents") >= n).then_some(())
    });
}

#[test]
fn a_machine_that_is_lost_after_its_last_task_has_done_it() {
    let Some(guarded) = Guarded::start() else { return };
    let Some(mut site) = site(&guarded) else { return };
    await_keeping(&site, 2);
    let folder = site.file("");
    // Ends when it is told to, so that no server is there any more.
    let cmd = format!(
        "cd {}\necho \"$STOKER_ATTEMPT\" >>attempts-$STOKER_NODE\nwhile [ ! -e go ]; do sleep 0.05; done\n\
         echo t-000 >>lines-$STOKER_NODE\n",
        folder.display()
    );
    site.upload(&json!([{
        "id": "t-000", "type": "shell", "version": "2.0.0", "roles": "*",
        "parameters": {"cmd": cmd, "timeout": 60, "retries": 0},
    }]));
    let (run, part) = site.execute(0);
    until("all have begun", || {
        let events = site.get(0, &format!("/api/v1/runs/{part}/events?limit=1000"))?;
        let begun = events.as_array()?.iter().filter(|event| event["kind"] == "started").count();
        (begun == N_NODES).then_some(())
    });
    for server in 0..2 {
        site.kill_server(server);
    }
    std::fs::write(site.file("go"), "").unwrap();
    until("NATS keeps all results", || {
        (said(&site, "agent", N_NODES, "NATS keeps the result") == N_NODES).then_some(())
    });
    site.lose_agents();
    for server in 0..2 {
        site.start_server(server);
    }
    judge(&site, run, 1);
}

#[test]
fn nats_loses_what_it_kept_in_the_middle_of_a_run() {
    let Some(mut guarded) = Guarded::start() else { return };
    let Some(site) = site(&guarded) else { return };
    await_keeping(&site, 2);
    upload(&site, N_TASKS, 50);
    let (run, _) = site.execute(0);
    until("the run goes on", || (n_lines(&site) >= 30).then_some(()));
    guarded.nats.stop();
    for account in std::fs::read_dir(guarded.folder.file("nats/jetstream/jetstream")).unwrap() {
        std::fs::remove_dir_all(account.unwrap().path().join("streams")).unwrap();
    }
    guarded.nats.start();
    assert!(n_lines(&site) < N_TASKS * N_NODES, "it was lost too late to prove anything");
    judge(&site, run, N_TASKS);
    // It is made anew, by whoever notices first.
    await_keeping(&site, 4);
}
