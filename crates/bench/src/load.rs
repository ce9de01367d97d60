//! Requests per second over real sockets.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::http::{Connection, Failure, once, request};
use crate::row::{Limit, Row};
use crate::server::{Process, login, token};

const N_CONNECTIONS: usize = 64;
const DURATION: Duration = Duration::from_secs(5);
const REQUESTS_MIN: f64 = 10_000.0;

pub(crate) async fn measure(program: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let started = Instant::now();
    let server = Process::start(program).await?;
    let start_up = started.elapsed();
    let answer = once(&server.address, &request("POST", "/keystone/v2.0/tokens", "", Some(&login()))).await;
    let token = token(&answer.map_err(|error| error.to_string())?)?;
    let read = Arc::new(request("GET", "/api/v1/tenants/1", &token, None));
    let per_second = rate(&server.address, &read).await.map_err(|error| error.to_string())?;
    Ok(vec![
        Row::new("start on an empty directory", start_up.as_secs_f64() * 1000.0, "ms", Limit::AtMost(1000.0)),
        Row::new(
            format!("authenticated reads, {N_CONNECTIONS} connections"),
            per_second,
            "a second",
            Limit::AtLeast(REQUESTS_MIN),
        ),
    ])
}

async fn rate(address: &str, request: &Arc<Vec<u8>>) -> Result<f64, Failure> {
    let (n_answers, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let started = Instant::now();
    let mut connections = tokio::task::JoinSet::new();
    for _ in 0..N_CONNECTIONS {
        let mut connection = Connection::open(address).await?;
        let (request, n_answers, is_over) =
            (Arc::clone(request), Arc::clone(&n_answers), Arc::clone(&is_over));
        connections.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                connection.call(&request).await?;
                n_answers.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<(), Failure>(())
        });
    }
    tokio::time::sleep(DURATION).await;
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = connections.join_next().await {
        ended??;
    }
    Ok(n_answers.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}
