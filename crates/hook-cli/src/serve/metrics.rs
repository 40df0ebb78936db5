//! Figures of a server, for Prometheus ("Prometheus, Exposition formats", text).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hook_engine::Reload;
use hook_engine::core::Run;
use hook_engine::rewake::scheduler::Round;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

type Labels = Vec<(&'static str, String)>;

/// Bounds of the histogram in seconds: from a hook that was not needed to one that takes a minute.
const BUCKETS: [f64; 12] = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 2.0, 10.0, 60.0];

/// What is counted.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    dispatches: Family<Labels, Counter>,
    seconds: Histogram,
    runs: Family<Labels, Counter>,
    declined: Family<Labels, Counter>,
    reloads: Family<Labels, Counter>,
    woken: Family<Labels, Counter>,
    resolved: Counter,
    engines: Gauge,
    pending: Gauge,
    answered: AtomicU64,
    left: AtomicU64,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut registry = Registry::with_prefix("hook");
        let metrics = Metrics {
            registry: Mutex::default(),
            dispatches: Family::default(),
            seconds: Histogram::new(BUCKETS),
            runs: Family::default(),
            declined: Family::default(),
            reloads: Family::default(),
            woken: Family::default(),
            resolved: Counter::default(),
            engines: Gauge::default(),
            pending: Gauge::default(),
            answered: AtomicU64::new(0),
            left: AtomicU64::new(0),
        };
        registry.register("dispatches", "Events that were answered", metrics.dispatches.clone());
        let help = "Time from an event to its answer";
        registry.register_with_unit("dispatch", help, Unit::Seconds, metrics.seconds.clone());
        registry.register("runs", "Hooks by how they ended", metrics.runs.clone());
        registry.register("declined", "Events left to the process that asked", metrics.declined.clone());
        registry.register("reloads", "Hook files that were read again", metrics.reloads.clone());
        registry.register("woken", "Envelopes whose time had come", metrics.woken.clone());
        registry.register("resolved", "Envelopes that an outside event made due", metrics.resolved.clone());
        registry.register("engines", "Engines that are kept", metrics.engines.clone());
        registry.register("rewakes_pending", "Envelopes that wait", metrics.pending.clone());
        *metrics.registry.lock().unwrap_or_else(PoisonError::into_inner) = registry;
        metrics
    }

    /// An event was answered, with this decision.
    pub(crate) fn dispatched(&self, agent: &'static str, decision: &str, runs: &[Run], took: Duration) {
        let labels = vec![("agent", agent.to_owned()), ("decision", decision.to_owned())];
        self.dispatches.get_or_create(&labels).inc();
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.seconds.observe(took.as_secs_f64());
        for run in runs {
            self.runs.get_or_create(&vec![("status", run.status().name().to_owned())]).inc();
        }
    }

    pub(crate) fn declined(&self, why: &str) {
        self.left.fetch_add(1, Ordering::Relaxed);
        self.declined.get_or_create(&vec![("why", why.to_owned())]).inc();
    }

    pub(crate) fn reloaded(&self, reload: &Reload) {
        let result = if reload.failure.is_none() { "ok" } else { "failed" };
        self.reloads.get_or_create(&vec![("result", result.to_owned())]).inc();
    }

    pub(crate) fn woken(&self, round: &Round) {
        for (result, count) in [("fired", round.fired), ("dropped", round.dropped), ("fenced", round.fenced)]
        {
            if count > 0 {
                self.woken.get_or_create(&vec![("result", result.to_owned())]).inc_by(count);
            }
        }
    }

    pub(crate) fn resolved(&self, count: u64) {
        self.resolved.inc_by(count);
    }

    /// How many events were answered, and how many left to the processes that asked.
    pub(crate) fn sums(&self) -> (u64, u64) {
        (self.answered.load(Ordering::Relaxed), self.left.load(Ordering::Relaxed))
    }

    /// Everything in the text format.
    pub(crate) fn text(&self, engines: usize, pending: usize) -> String {
        self.engines.set(i64::try_from(engines).unwrap_or(i64::MAX));
        self.pending.set(i64::try_from(pending).unwrap_or(i64::MAX));
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string fails for nobody.
        let _ = encode(&mut text, &registry);
        text
    }
}
