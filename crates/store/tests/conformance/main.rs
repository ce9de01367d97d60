//! Conformance suite that runs on both engines: every store method with valid and invalid input.
#![expect(
    clippy::assigning_clones,
    clippy::default_trait_access,
    clippy::disallowed_methods,
    clippy::many_single_char_names,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and measure elapsed time"
)]

/// Runs each function on SQLite and on PostgreSQL. A test that is not listed is dead code, which is a compile
/// error.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let fixture = $crate::fixture::Fixture::sqlite().await;
                super::$test(&fixture).await;
                fixture.remove().await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let Some(fixture) = $crate::fixture::Fixture::postgres().await else { return };
                super::$test(&fixture).await;
                fixture.remove().await;
            })+
        }
    };
}

/// Asserts that a result is a specific error.
macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($pattern)),
        }
    };
}

mod agents;
mod applied;
mod applied_random;
mod audit;
mod backup;
mod clusters;
mod columns;
mod drift;
mod facts;
mod fixture;
mod graph_sources;
mod graphs;
mod graphs_random;
mod group;
mod inspect;
mod links;
mod lists;
mod modules;
mod nodes;
mod outage;
mod plans;
mod plugins;
mod quotas;
mod real_graph;
mod real_tasks;
mod releases;
mod run_events;
mod runs;
mod schema;
mod sequences;
mod sessions;
mod states;
mod tasks;
mod texts;
mod tokens;
mod upgrade;
mod upgrade_applied;
mod users;
mod webhooks;
