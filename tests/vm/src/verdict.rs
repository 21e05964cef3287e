//! The one line that the host waits for.

use serde_json::{Map, Value, json};

/// How the verdict line starts; `xtask/src/vm/verdict.rs` reads it.
const MARK: &str = "BWMON-VM-VERDICT:";

/// What a scenario measured.
pub(crate) type Figures = Map<String, Value>;

/// One scenario's outcome.
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) ms: u128,
    /// Figures, or what went wrong.
    pub(crate) result: Result<Figures, String>,
}

/// All outcomes of this boot, or the reason why there are none.
pub(crate) struct Verdict {
    outcomes: Vec<Outcome>,
    broken: Option<String>,
}

impl Verdict {
    /// The scenarios ran; `complaint` is a fault of the machine as a whole.
    pub(crate) fn of(outcomes: Vec<Outcome>, complaint: Option<String>) -> Self {
        Self { outcomes, broken: complaint }
    }

    /// No scenario could run.
    pub(crate) fn broken(why: &str) -> Self {
        Self { outcomes: Vec::new(), broken: Some(why.to_owned()) }
    }

    fn passed(&self) -> bool {
        self.broken.is_none() && self.outcomes.iter().all(|outcome| outcome.result.is_ok())
    }

    fn line(&self) -> String {
        let word = if self.passed() { "pass" } else { "fail" };
        let scenarios: Vec<Value> = self.outcomes.iter().map(Outcome::to_json).collect();
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut body = json!({ "kernel": release, "scenarios": scenarios });
        if let (Some(why), Some(map)) = (&self.broken, body.as_object_mut()) {
            map.insert("error".into(), json!(why));
        }
        format!("{MARK} {word} {body}")
    }

    /// Prints the line with the kernel's messages silenced, so that none falls into it.
    pub(crate) fn print(&self) {
        if let Err(error) = std::fs::write("/proc/sys/kernel/printk", "1") {
            println!("bwmon-vm: cannot silence the kernel's messages: {error}");
        }
        println!("\n{}", self.line());
    }
}

impl Outcome {
    fn to_json(&self) -> Value {
        match &self.result {
            Ok(figures) => json!({
                "name": self.name, "ok": true, "ms": self.ms as u64, "figures": figures,
            }),
            Err(error) => json!({
                "name": self.name, "ok": false, "ms": self.ms as u64, "error": error,
            }),
        }
    }
}

/// The words of a panic, as far as they are text.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", words.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_scenario_fails_the_boot() {
        let good = Outcome { name: "a".into(), ms: 1, result: Ok(Figures::new()) };
        let bad = Outcome { name: "b".into(), ms: 2, result: Err("no".into()) };
        assert!(Verdict::of(vec![], None).passed());
        let verdict = Verdict::of(vec![good, bad], None);
        assert!(verdict.line().starts_with("BWMON-VM-VERDICT: fail {"), "{}", verdict.line());
        assert!(!verdict.line().contains('\n'));
    }
}
