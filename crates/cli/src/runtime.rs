//! Single-threaded async runtime for commands that access a database or a server.

use std::future::Future;

use crate::exit::{Failure, Outcome};

pub(crate) fn block_on<F: Future>(future: F) -> Outcome<F::Output> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::unavailable(&error))?;
    Ok(runtime.block_on(future))
}
