use serde_json::json;
use stoker_model::{Micros, OutputChunk, PlanId, RunEvent, RunId, RunStatus};
use stoker_store::StoreError;

use crate::fixture::{Fixture, NOW, commit, n_rows, run};

fn event(seq: i64, kind: &str) -> RunEvent {
    RunEvent {
        seq,
        at: Micros(NOW.0 + seq),
        kind: kind.to_owned(),
        instance: (seq % 2 == 0).then_some(seq),
        body: json!({"seq": seq, "nul": "\u{0}"}),
    }
}

/// Returns a run with a work record.
async fn work(fixture: &Fixture) -> RunId {
    work_named(fixture, "work").await
}

async fn work_named(fixture: &Fixture, name: &str) -> RunId {
    let mut writing = fixture.change().await;
    let run = run(&mut writing, name).await;
    writing.run_work_create(run.id, &json!({"version": 1})).await.unwrap();
    assert_error!(writing.run_work_create(run.id, &json!({})).await, StoreError::AlreadyExists { .. });
    commit(writing).await;
    run.id
}

async fn run_lease_has_one_owner(fixture: &Fixture) {
    let run = work(fixture).await;
    let until = NOW.plus_seconds(10);
    assert_eq!(fixture.store.run_lease_acquire(run, "a", NOW, until).await.unwrap(), Some(1));
    assert_eq!(fixture.store.run_lease_acquire(run, "b", NOW, until).await.unwrap(), None);
    assert_eq!(fixture.read().await.run_work_unowned("b", NOW).await.unwrap(), []);
    // The owner may reacquire its own lease, for example after a restart.
    assert_eq!(fixture.read().await.run_work_unowned("a", NOW).await.unwrap().len(), 1);
    assert_eq!(fixture.store.run_lease_acquire(run, "a", NOW, until).await.unwrap(), Some(2));
    assert_error!(
        fixture.store.run_lease_renew(run, 1, NOW, Some(until)).await,
        StoreError::Stale { current: 2 }
    );
    fixture.store.run_lease_renew(run, 2, NOW, Some(until.plus_seconds(10))).await.unwrap();
    assert_eq!(fixture.store.run_lease_acquire(run, "b", until, until).await.unwrap(), None);
    // After the lease expires, another server takes over.
    let late = until.plus_seconds(10);
    assert_eq!(fixture.read().await.run_work_unowned("b", late).await.unwrap().len(), 1);
    assert_eq!(
        fixture.store.run_lease_acquire(run, "b", late, late.plus_seconds(10)).await.unwrap(),
        Some(3)
    );
    fixture.store.run_lease_renew(run, 3, late, None).await.unwrap();
    assert_eq!(
        fixture.store.run_lease_acquire(run, "c", late, late.plus_seconds(10)).await.unwrap(),
        Some(4)
    );
    assert_error!(
        fixture.store.run_lease_renew(RunId(99), 1, NOW, None).await,
        StoreError::NotFound { what: "work of the run" }
    );
}

async fn bulk_renewal_renews_only_held_leases(fixture: &Fixture) {
    let (until, later) = (NOW.plus_seconds(10), NOW.plus_seconds(20));
    let mut leases = Vec::new();
    for number in 0..130 {
        let run = work_named(fixture, &format!("work {number}")).await;
        let generation = fixture.store.run_lease_acquire(run, "a", NOW, until).await.unwrap().unwrap();
        leases.push((run, generation));
    }
    // One lease is taken over, one is revoked, one run is deleted, and one is requested with a wrong
    // generation.
    let (taken_over, revoked, deleted) = (leases[3].0, leases[70].0, leases[129].0);
    assert_eq!(fixture.store.run_lease_acquire(taken_over, "b", until, later).await.unwrap(), Some(2));
    let mut writing = fixture.change().await;
    writing.run_lease_revoke(revoked).await.unwrap();
    writing.run_delete(deleted).await.unwrap();
    commit(writing).await;
    leases[100].1 = 7;
    let held = fixture.store.run_leases_renew(&leases, NOW, later).await.unwrap();
    let lost = [taken_over, revoked, deleted, leases[100].0];
    let expected_runs: Vec<RunId> =
        leases.iter().map(|(run, _)| *run).filter(|run| !lost.contains(run)).collect();
    assert_eq!(held.len(), expected_runs.len());
    assert!(expected_runs.iter().all(|run| held.contains(run)));
    let mut session = fixture.read().await;
    for (run, _) in &leases {
        let work = session.run_work(*run).await.unwrap();
        let expected = match *run {
            run if run == deleted => None,
            run if run == revoked => Some((None, None)),
            run if run == taken_over => Some((Some("b".to_owned()), Some(later))),
            run if run == leases[100].0 => Some((Some("a".to_owned()), Some(until))),
            _ => Some((Some("a".to_owned()), Some(later))),
        };
        assert_eq!(work.map(|work| (work.owner, work.lease_until)), expected, "{run}");
    }
    drop(session);
    assert!(fixture.store.run_leases_renew(&[], NOW, later).await.unwrap().is_empty());
}

async fn revoked_run_has_no_lease_owner(fixture: &Fixture) {
    let run = work(fixture).await;
    let until = NOW.plus_seconds(10);
    fixture.store.run_lease_acquire(run, "a", NOW, until).await.unwrap();
    let mut writing = fixture.change().await;
    writing.run_lease_require(run, 1).await.unwrap();
    assert!(writing.run_lease_revoke(run).await.unwrap());
    assert!(!writing.run_lease_revoke(RunId(99)).await.unwrap());
    assert_error!(writing.run_lease_require(run, 1).await, StoreError::Stale { current: 2 });
    assert_error!(writing.run_lease_require(RunId(99), 1).await, StoreError::NotFound { .. });
    commit(writing).await;
    assert_error!(
        fixture.store.run_lease_renew(run, 1, NOW, Some(until)).await,
        StoreError::Stale { current: 2 }
    );
    assert_error!(
        fixture.change().await.commit_run(run, 1, &[event(1, "began")]).await,
        StoreError::Stale { current: 2 }
    );
    let mut session = fixture.read().await;
    assert_eq!(session.run_event_last(run).await.unwrap(), 0);
    assert_eq!(session.run_work(run).await.unwrap().unwrap().owner, None);
}

async fn ended_runs_are_not_free_work(fixture: &Fixture) {
    let run = work(fixture).await;
    let mut writing = fixture.change().await;
    let mut record = writing.run_get(run).await.unwrap().unwrap();
    record.status = RunStatus::Ready;
    writing.run_update(&record).await.unwrap();
    commit(writing).await;
    assert_eq!(fixture.read().await.run_work_unowned("a", NOW).await.unwrap(), []);
    let work = fixture.read().await.run_work(run).await.unwrap().unwrap();
    assert_eq!((work.plan_id, work.owner, work.lease_generation), (None, None, 0));
}

async fn lease_owner_appends_events(fixture: &Fixture) {
    let run = work(fixture).await;
    fixture.store.run_lease_acquire(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    let all: Vec<RunEvent> = (1..=101).map(|seq| event(seq, "task_started")).collect();
    fixture.change().await.commit_run(run, 1, &all[..100]).await.unwrap();
    fixture.change().await.commit_run(run, 1, &all[100..]).await.unwrap();
    let mut session = fixture.read().await;
    assert_eq!(session.run_events(run, 0, 1000).await.unwrap(), all);
    assert_eq!(session.run_events(run, 98, 2).await.unwrap(), all[98..100]);
    assert_eq!(session.run_event_last(run).await.unwrap(), 101);
    assert_eq!(session.run_events(run, 101, 10).await.unwrap(), []);
    drop(session);
    fixture.store.run_lease_acquire(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    let stale = fixture.change().await.commit_run(run, 1, &[event(102, "late")]).await;
    assert_error!(stale, StoreError::Stale { current: 2 });
    // A duplicate sequence number is rejected and the transaction is rolled back.
    let again = fixture.change().await.commit_run(run, 2, &[event(102, "new"), event(101, "again")]).await;
    assert!(again.is_err(), "{again:?}");
    assert_eq!(n_rows(fixture, "run_events").await, 101);
}

async fn plan_is_set_once_and_events_are_deleted_with_the_run(fixture: &Fixture) {
    let run = work(fixture).await;
    let mut writing = fixture.change().await;
    let lost = writing.run_work_plan(run, 7, PlanId(1)).await;
    assert_error!(lost, StoreError::Stale { current: 0 });
    drop(writing);
    fixture.store.run_lease_acquire(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    fixture.change().await.commit_run(run, 1, &[event(1, "began")]).await.unwrap();
    let pieces = [piece(0, "x"), piece(1, "y\u{0}z")];
    fixture.store.output_put(run, &pieces, NOW).await.unwrap();
    let mut writing = fixture.change().await;
    assert!(writing.run_delete(run).await.unwrap());
    commit(writing).await;
    for table in ["run_events", "run_work", "attempt_output"] {
        assert_eq!(n_rows(fixture, table).await, 0, "{table}");
    }
}

fn piece(start: i64, text: &str) -> OutputChunk {
    OutputChunk { instance: 3, attempt: 1, stream: "out".to_owned(), start, text: text.to_owned() }
}

async fn output_is_idempotent_and_searchable(fixture: &Fixture) {
    let run = work(fixture).await;
    let pieces = [piece(0, "100% of a_b"), piece(11, "c:\\d"), piece(15, "aXb")];
    fixture.store.output_put(run, &pieces, NOW).await.unwrap();
    fixture.store.output_put(run, &[piece(0, "sent again")], NOW).await.unwrap();
    let mut session = fixture.read().await;
    assert_eq!(session.output_list(run, 3, 10).await.unwrap(), pieces);
    assert_eq!(session.output_list(run, 4, 10).await.unwrap(), []);
    for (needle, index) in [("a_b", 0), ("100%", 0), ("\\d", 1), ("aXb", 2)] {
        assert_eq!(session.output_search(run, needle, 10).await.unwrap(), pieces[index..=index], "{needle}");
    }
    // A match may span two chunks of one stream, but not two streams.
    let elsewhere = OutputChunk { stream: "err".to_owned(), ..piece(18, "Ä and more") };
    drop(session);
    fixture.store.output_put(run, &[elsewhere, piece(18, "Äö")], NOW).await.unwrap();
    let mut session = fixture.read().await;
    let across = [piece(0, "100% of a_bc:\\d")];
    assert_eq!(session.output_search(run, "a_bc:", 10).await.unwrap(), across);
    assert_eq!(session.output_search(run, "bÄö", 10).await.unwrap(), [piece(15, "aXbÄö")]);
    for needle in ["axb", "A_B", "bÄ and", "100%c", ""] {
        assert_eq!(session.output_search(run, needle, 10).await.unwrap(), [], "{needle}");
    }
}

on_both![
    bulk_renewal_renews_only_held_leases,
    ended_runs_are_not_free_work,
    lease_owner_appends_events,
    output_is_idempotent_and_searchable,
    plan_is_set_once_and_events_are_deleted_with_the_run,
    revoked_run_has_no_lease_owner,
    run_lease_has_one_owner,
];
