//! One suite for both engines: every method of the store, with right and wrong input.
#![expect(
    clippy::assigning_clones,
    clippy::default_trait_access,
    clippy::disallowed_methods,
    clippy::many_single_char_names,
    clippy::unwrap_used,
    reason = "tests: a panic is how they fail, a clock how they tell that a wait has ended"
)]

/// Runs each function on SQLite and on PostgreSQL. One that is not listed is dead code, which is an error.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let ground = $crate::ground::Ground::sqlite().await;
                super::$test(&ground).await;
                ground.remove().await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let Some(ground) = $crate::ground::Ground::postgres().await else { return };
                super::$test(&ground).await;
                ground.remove().await;
            })+
        }
    };
}

/// That a result is this error, or what it is instead.
macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($pattern)),
        }
    };
}

mod agents;
mod audit;
mod backup;
mod clusters;
mod facts;
mod graph_sources;
mod graphs;
mod graphs_random;
mod ground;
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
mod users;
mod webhooks;
