//! Ctrl-C and the like for work that is not the agent's.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Sets `stop` when a signal asks this process to end; whoever works looks at it. The thread that
/// waits ends with the process.
///
/// # Errors
/// When signals or the thread cannot be had.
pub fn stop_on_signals(stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate, mut hangup) = {
        let _inside = runtime.enter();
        let listen = |kind| signal(kind).context("cannot listen for signals");
        (
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        )
    };
    let wait = move || {
        runtime.block_on(async {
            loop {
                any(&mut interrupt, &mut terminate, &mut hangup).await;
                stop.store(true, Ordering::Relaxed);
            }
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

async fn any(interrupt: &mut Signal, terminate: &mut Signal, hangup: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}
