//! Code of a host that may panic.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The future's output; `None` where it panics. A host's client that panics takes no hook beside it along.
pub async fn caught<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|task| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(task).map(Some))).unwrap_or(Poll::Ready(None))
    })
    .await
}
