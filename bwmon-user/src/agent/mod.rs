//! The running agent: the governing loop on a thread of its own; signals, clients and the service
//! manager on a small runtime; and putting everything back on every way out.

mod commands;
mod control;
mod governing;
mod hub;
mod metrics;
mod narrator;
mod notify;
mod plan;
mod reload;
mod startup_text;
mod steady;
mod stopping;
mod tail;
mod thread_faults;
mod trial;

pub use control::{ControlPlan, GROUP};
pub use plan::{Heartbeat, Plan, Summary};
pub use reload::{Choice, Choose, Reload};
pub use stopping::stop_on_signals;
pub use trial::Trials;

use anyhow::{Context, anyhow};
use control::Listening;
use governing::{Governing, Threads};
use hub::Hub;
use metrics::Page;
pub(crate) use narrator::news;
use reload::Nudge;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

/// What tells the operator, from any thread.
type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Signals that end a run in good order, and the one that reloads the policy.
const SIGNALS: [SignalKind; 4] =
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];

/// How often the service manager gets a line about the state.
const STATUS_EVERY: Duration = Duration::from_secs(10);

/// Runs `plan` until its end, SIGINT, SIGTERM or SIGQUIT; SIGHUP reloads. `say` gets what the
/// operator should know.
///
/// # Errors
/// When a socket cannot be had, the machine cannot be taken over, or the loop fails. Everything is
/// put back before that.
pub fn govern(plan: Plan, say: impl Fn(&str) + Send + Sync + 'static) -> anyhow::Result<Summary> {
    let say: Say = Arc::new(say);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    LocalSet::new().block_on(&runtime, govern_and_serve(plan, say))
}

async fn govern_and_serve(plan: Plan, say: Say) -> anyhow::Result<Summary> {
    let mut signals = SIGNALS
        .map(signal)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .context("cannot listen for signals")?;
    // What can go wrong with a socket must not cost the machine a takeover.
    let listening = match plan.control.clone() {
        Some(control) => Some(Rc::new(Listening::bind(control, &|text| say(text))?)),
        None => None,
    };
    let page = match &plan.metrics {
        Some(metrics) => Some(Rc::new(Page::bind(metrics).await?)),
        None => None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let (born, mut birth) = oneshot::channel();
    let governing = Governing { plan, stop: stop.clone(), say: say.clone(), born };
    let Threads { thread, nudges, mut ended } = governing.start()?;
    let [interrupt, terminate, quit, hangup] = signals.as_mut_slice() else {
        return Err(anyhow!("four signals were asked for"));
    };
    let mut serving = false;
    loop {
        tokio::select! {
            _ = &mut ended => break,
            hub = &mut birth, if !serving => {
                serving = true;
                if let Ok(hub) = hub {
                    serve(hub, listening.clone(), page.clone());
                }
            }
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            _ = quit.recv() => break,
            // A loader that is gone has nobody to load for.
            _ = hangup.recv() => drop(nudges.send(Nudge::Hangup)),
        }
    }
    notify::stopping();
    stop.store(true, Ordering::Relaxed);
    // Clients are answered to the last: a loader may wait for the loop, the loop for nobody.
    if !ended.is_terminated() {
        let _ = ended.await;
    }
    drop(nudges.send(Nudge::End));
    thread.join().map_err(|_| anyhow!("the governing thread panicked; run `bwmon restore`"))?
}

/// Starts what runs beside the loop; it ends with the runtime.
fn serve(hub: Hub, listening: Option<Rc<Listening>>, page: Option<Rc<Page>>) {
    if let Some(page) = page {
        tokio::task::spawn_local(page.serve(hub.clone()));
    }
    if let Some(listening) = listening {
        tokio::task::spawn_local(control::serve(listening, hub.clone()));
    }
    tokio::task::spawn_local(async move {
        let mut every = tokio::time::interval(STATUS_EVERY);
        // The first comes at once.
        loop {
            every.tick().await;
            notify::status(&hub.status());
        }
    });
}
