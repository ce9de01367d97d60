use serde_json::json;
use stoker_model::{Micros, OutputPiece, PlanId, RunEvent, RunId, RunStatus};
use stoker_store::StoreError;

use crate::ground::{Ground, NOW, commit, n_rows, run};

fn event(seq: i64, kind: &str) -> RunEvent {
    RunEvent {
        seq,
        at: Micros(NOW.0 + seq),
        kind: kind.to_owned(),
        instance: (seq % 2 == 0).then_some(seq),
        body: json!({"seq": seq, "nul": "\u{0}"}),
    }
}

/// A run with something to do.
async fn work(ground: &Ground) -> RunId {
    work_named(ground, "work").await
}

async fn work_named(ground: &Ground, name: &str) -> RunId {
    let mut writing = ground.change().await;
    let run = run(&mut writing, name).await;
    writing.run_work_create(run.id, &json!({"version": 1})).await.unwrap();
    assert_error!(writing.run_work_create(run.id, &json!({})).await, StoreError::Taken { .. });
    commit(writing).await;
    run.id
}

async fn a_run_is_held_by_one(ground: &Ground) {
    let run = work(ground).await;
    let until = NOW.plus_seconds(10);
    assert_eq!(ground.store.run_take(run, "a", NOW, until).await.unwrap(), Some(1));
    assert_eq!(ground.store.run_take(run, "b", NOW, until).await.unwrap(), None);
    assert_eq!(ground.read().await.run_work_free("b", NOW).await.unwrap(), []);
    // Whoever comes back under its own name does not wait for itself.
    assert_eq!(ground.read().await.run_work_free("a", NOW).await.unwrap().len(), 1);
    assert_eq!(ground.store.run_take(run, "a", NOW, until).await.unwrap(), Some(2));
    assert_error!(ground.store.run_hold(run, 1, NOW, Some(until)).await, StoreError::Stale { current: 2 });
    ground.store.run_hold(run, 2, NOW, Some(until.plus_seconds(10))).await.unwrap();
    assert_eq!(ground.store.run_take(run, "b", until, until).await.unwrap(), None);
    // Silence for long enough, and another takes over.
    let late = until.plus_seconds(10);
    assert_eq!(ground.read().await.run_work_free("b", late).await.unwrap().len(), 1);
    assert_eq!(ground.store.run_take(run, "b", late, late.plus_seconds(10)).await.unwrap(), Some(3));
    ground.store.run_hold(run, 3, late, None).await.unwrap();
    assert_eq!(ground.store.run_take(run, "c", late, late.plus_seconds(10)).await.unwrap(), Some(4));
    assert_error!(
        ground.store.run_hold(RunId(99), 1, NOW, None).await,
        StoreError::Missing { what: "work of the run" }
    );
}

async fn many_runs_are_held_together_and_only_by_whoever_has_them(ground: &Ground) {
    let (until, later) = (NOW.plus_seconds(10), NOW.plus_seconds(20));
    let mut asked = Vec::new();
    for number in 0..130 {
        let run = work_named(ground, &format!("work {number}")).await;
        let generation = ground.store.run_take(run, "a", NOW, until).await.unwrap().unwrap();
        asked.push((run, generation));
    }
    // One is taken over after a silence, one revoked, one gone, one asked for with a generation that never was.
    let (taken, revoked, gone) = (asked[3].0, asked[70].0, asked[129].0);
    assert_eq!(ground.store.run_take(taken, "b", until, later).await.unwrap(), Some(2));
    let mut writing = ground.change().await;
    writing.run_work_revoke(revoked).await.unwrap();
    writing.run_delete(gone).await.unwrap();
    commit(writing).await;
    asked[100].1 = 7;
    let held = ground.store.runs_hold(&asked, NOW, later).await.unwrap();
    let lost = [taken, revoked, gone, asked[100].0];
    let kept: Vec<RunId> = asked.iter().map(|(run, _)| *run).filter(|run| !lost.contains(run)).collect();
    assert_eq!(held.len(), kept.len());
    assert!(kept.iter().all(|run| held.contains(run)));
    let mut session = ground.read().await;
    for (run, _) in &asked {
        let work = session.run_work(*run).await.unwrap();
        let expected = match *run {
            run if run == gone => None,
            run if run == revoked => Some((None, None)),
            run if run == taken => Some((Some("b".to_owned()), Some(later))),
            run if run == asked[100].0 => Some((Some("a".to_owned()), Some(until))),
            _ => Some((Some("a".to_owned()), Some(later))),
        };
        assert_eq!(work.map(|work| (work.owner, work.lease_until)), expected, "{run}");
    }
    drop(session);
    assert!(ground.store.runs_hold(&[], NOW, later).await.unwrap().is_empty());
}

async fn a_run_that_is_revoked_is_in_nobodys_hands(ground: &Ground) {
    let run = work(ground).await;
    let until = NOW.plus_seconds(10);
    ground.store.run_take(run, "a", NOW, until).await.unwrap();
    let mut writing = ground.change().await;
    writing.run_require(run, 1).await.unwrap();
    assert!(writing.run_work_revoke(run).await.unwrap());
    assert!(!writing.run_work_revoke(RunId(99)).await.unwrap());
    assert_error!(writing.run_require(run, 1).await, StoreError::Stale { current: 2 });
    assert_error!(writing.run_require(RunId(99), 1).await, StoreError::Missing { .. });
    commit(writing).await;
    assert_error!(ground.store.run_hold(run, 1, NOW, Some(until)).await, StoreError::Stale { current: 2 });
    assert_error!(
        ground.change().await.commit_run(run, 1, &[event(1, "began")]).await,
        StoreError::Stale { current: 2 }
    );
    let mut session = ground.read().await;
    assert_eq!(session.run_event_last(run).await.unwrap(), 0);
    assert_eq!(session.run_work(run).await.unwrap().unwrap().owner, None);
}

async fn work_of_runs_that_ended_is_nobodys(ground: &Ground) {
    let run = work(ground).await;
    let mut writing = ground.change().await;
    let mut record = writing.run_get(run).await.unwrap().unwrap();
    record.status = RunStatus::Ready;
    writing.run_update(&record).await.unwrap();
    commit(writing).await;
    assert_eq!(ground.read().await.run_work_free("a", NOW).await.unwrap(), []);
    let work = ground.read().await.run_work(run).await.unwrap().unwrap();
    assert_eq!((work.plan_id, work.owner, work.lease_generation), (None, None, 0));
}

async fn events_are_added_by_whoever_holds_the_run_and_read_from_any_number(ground: &Ground) {
    let run = work(ground).await;
    ground.store.run_take(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    let all: Vec<RunEvent> = (1..=101).map(|seq| event(seq, "task_started")).collect();
    ground.change().await.commit_run(run, 1, &all[..100]).await.unwrap();
    ground.change().await.commit_run(run, 1, &all[100..]).await.unwrap();
    let mut session = ground.read().await;
    assert_eq!(session.run_events(run, 0, 1000).await.unwrap(), all);
    assert_eq!(session.run_events(run, 98, 2).await.unwrap(), all[98..100]);
    assert_eq!(session.run_event_last(run).await.unwrap(), 101);
    assert_eq!(session.run_events(run, 101, 10).await.unwrap(), []);
    drop(session);
    ground.store.run_take(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    let stale = ground.change().await.commit_run(run, 1, &[event(102, "late")]).await;
    assert_error!(stale, StoreError::Stale { current: 2 });
    // The same number again is refused, and nothing of that change is kept.
    let again = ground.change().await.commit_run(run, 2, &[event(102, "new"), event(101, "again")]).await;
    assert!(again.is_err(), "{again:?}");
    assert_eq!(n_rows(ground, "run_events").await, 101);
}

async fn a_run_gets_its_plan_once_and_takes_its_events_along(ground: &Ground) {
    let run = work(ground).await;
    let mut writing = ground.change().await;
    let lost = writing.run_work_plan(run, 7, PlanId(1)).await;
    assert_error!(lost, StoreError::Stale { current: 0 });
    drop(writing);
    ground.store.run_take(run, "a", NOW, NOW.plus_seconds(1)).await.unwrap();
    ground.change().await.commit_run(run, 1, &[event(1, "began")]).await.unwrap();
    let pieces = [piece(0, "x"), piece(1, "y\u{0}z")];
    ground.store.output_put(run, &pieces, NOW).await.unwrap();
    let mut writing = ground.change().await;
    assert!(writing.run_delete(run).await.unwrap());
    commit(writing).await;
    for table in ["run_events", "run_work", "attempt_output"] {
        assert_eq!(n_rows(ground, table).await, 0, "{table}");
    }
}

fn piece(start: i64, text: &str) -> OutputPiece {
    OutputPiece { instance: 3, attempt: 1, stream: "out".to_owned(), start, text: text.to_owned() }
}

async fn output_is_kept_once_and_found_by_what_it_says(ground: &Ground) {
    let run = work(ground).await;
    let pieces = [piece(0, "100% of a_b"), piece(11, "c:\\d"), piece(15, "aXb")];
    ground.store.output_put(run, &pieces, NOW).await.unwrap();
    ground.store.output_put(run, &[piece(0, "sent again")], NOW).await.unwrap();
    let mut session = ground.read().await;
    assert_eq!(session.output_list(run, 3, 10).await.unwrap(), pieces);
    assert_eq!(session.output_list(run, 4, 10).await.unwrap(), []);
    for (wanted, found) in [("a_b", 0), ("100%", 0), ("\\d", 1), ("aXb", 2)] {
        assert_eq!(session.output_search(run, wanted, 10).await.unwrap(), pieces[found..=found], "{wanted}");
    }
    // A program is free to write a word in two parts; what is printed elsewhere does not follow.
    let elsewhere = OutputPiece { stream: "err".to_owned(), ..piece(18, "Ä and more") };
    drop(session);
    ground.store.output_put(run, &[elsewhere, piece(18, "Äö")], NOW).await.unwrap();
    let mut session = ground.read().await;
    let across = [piece(0, "100% of a_bc:\\d")];
    assert_eq!(session.output_search(run, "a_bc:", 10).await.unwrap(), across);
    assert_eq!(session.output_search(run, "bÄö", 10).await.unwrap(), [piece(15, "aXbÄö")]);
    for wanted in ["axb", "A_B", "bÄ and", "100%c", ""] {
        assert_eq!(session.output_search(run, wanted, 10).await.unwrap(), [], "{wanted}");
    }
}

on_both![
    a_run_gets_its_plan_once_and_takes_its_events_along,
    a_run_is_held_by_one,
    a_run_that_is_revoked_is_in_nobodys_hands,
    events_are_added_by_whoever_holds_the_run_and_read_from_any_number,
    many_runs_are_held_together_and_only_by_whoever_has_them,
    output_is_kept_once_and_found_by_what_it_says,
    work_of_runs_that_ended_is_nobodys,
];
