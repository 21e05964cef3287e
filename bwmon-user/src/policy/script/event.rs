//! `ev`: what `on_event(ev)` gets, and values that cross from one script to another.

use super::error::raise;
use crate::policy::PolicyEvent;
use rhai::{Array, Dynamic, Engine, EvalAltResult, Map};
use serde_json::Value;
use std::rc::Rc;

type Answer<T> = Result<T, Box<EvalAltResult>>;

/// The value that scripts call `ev`.
#[derive(Clone, Debug)]
pub(super) struct Event(pub(super) Rc<PolicyEvent>);

impl Event {
    fn unknown<T>(&self, name: &str) -> Answer<T> {
        Err(raise(format!(
            "`ev.{name}` is not known in the event \"{}\": ask `ev.has(\"{name}\")` first",
            self.0.kind()
        )))
    }

    fn old_state(&mut self) -> Answer<Map> {
        match &*self.0 {
            PolicyEvent::Reload { old_state: Some(Value::Object(map)), .. } => {
                Ok(map.iter().map(|(key, value)| (key.as_str().into(), dynamic(value))).collect())
            }
            _ => self.unknown("old_state"),
        }
    }

    fn old_digest(&mut self) -> Answer<String> {
        match &*self.0 {
            PolicyEvent::Reload { old_digest, .. } => Ok(old_digest.clone()),
            _ => self.unknown("old_digest"),
        }
    }

    fn slept_ms(&mut self) -> Answer<i64> {
        match &*self.0 {
            PolicyEvent::Resumed { slept_ms } => Ok(i64::try_from(*slept_ms).unwrap_or(i64::MAX)),
            _ => self.unknown("slept_ms"),
        }
    }

    fn cpus(&mut self) -> Answer<i64> {
        match &*self.0 {
            PolicyEvent::CpusChanged { cpus } => Ok(i64::from(*cpus)),
            _ => self.unknown("cpus"),
        }
    }

    fn has(&mut self, name: &str) -> Answer<bool> {
        Ok(match (name, &*self.0) {
            ("kind", _) => true,
            ("old_state", event) => {
                matches!(event, PolicyEvent::Reload { old_state: Some(Value::Object(_)), .. })
            }
            ("old_digest", event) => matches!(event, PolicyEvent::Reload { .. }),
            ("slept_ms", event) => matches!(event, PolicyEvent::Resumed { .. }),
            ("cpus", event) => matches!(event, PolicyEvent::CpusChanged { .. }),
            (other, _) => {
                return Err(raise(format!("`ev.has(\"{other}\")`: an event has no such property")));
            }
        })
    }
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<Event>("Event");
    engine
        .register_fn("has", Event::has)
        .register_get("kind", |event: &mut Event| event.0.kind())
        .register_get("old_state", Event::old_state)
        .register_get("old_digest", Event::old_digest)
        .register_get("slept_ms", Event::slept_ms)
        .register_get("cpus", Event::cpus);
}

/// A plain value of a script.
pub(super) fn dynamic(value: &Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(yes) => (*yes).into(),
        Value::Number(number) => match number.as_i64() {
            Some(n) => n.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(dynamic).collect::<Array>().into(),
        Value::Object(map) => {
            let map: Map = map.iter().map(|(k, v)| (k.as_str().into(), dynamic(v))).collect();
            map.into()
        }
    }
}

/// The value of a script as plain data; what a state may not hold becomes null.
pub(super) fn plain(value: &Dynamic) -> Value {
    if let Ok(n) = value.as_int() {
        return n.into();
    }
    if let Ok(x) = value.as_float() {
        return x.into();
    }
    if let Ok(yes) = value.as_bool() {
        return yes.into();
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return text.as_str().into();
    }
    if let Ok(items) = value.as_array_ref() {
        return items.iter().map(plain).collect();
    }
    if let Ok(map) = value.as_map_ref() {
        let map = map.iter().map(|(key, value)| (key.to_string(), plain(value)));
        return Value::Object(map.collect());
    }
    Value::Null
}

#[cfg(test)]
mod tests {
    use crate::board::builtin;
    use crate::policy::script::{ScriptPolicy, Source};
    use crate::policy::testing::observation;
    use crate::policy::{Ask, Policy, PolicyEvent};
    use crate::units::Kbps;

    fn policy(text: &str) -> ScriptPolicy {
        let board = builtin("sdm845").unwrap().unwrap();
        ScriptPolicy::new(Source { name: "p.rhai".into(), text: text.into() }, &board, &[])
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn demand(policy: &mut ScriptPolicy, domain: usize) -> u64 {
        match policy.decide(&[observation(); 3], domain).unwrap().ask {
            Ask::Demand(Kbps(n)) => n,
            other => panic!("{other:?}"),
        }
    }

    const COUNTS: &str = "fn init(i) { #{ n: 5, list: [1], text: \"a\" } }\n\
                          fn decide(obs) { this.n += 1; demand_kBps(this.n) }\n";

    #[test]
    fn a_policy_takes_from_the_old_state_what_it_wants() {
        let mut old = policy(COUNTS);
        assert_eq!((demand(&mut old, 1), demand(&mut old, 1)), (6, 7));
        let migrates = format!(
            "{COUNTS}fn on_event(ev) {{ if ev.kind == \"reload\" && ev.has(\"old_state\") \
             {{ this.n = ev.old_state.n; }} }}"
        );
        let mut new = policy(&migrates);
        let reload =
            PolicyEvent::Reload { old_state: old.state(1), old_digest: old.digest().to_owned() };
        new.event(1, &reload).unwrap();
        assert_eq!((demand(&mut new, 1), demand(&mut new, 0)), (8, 6));
        // One that does not ask for it starts from `init`.
        let mut plain = policy(COUNTS);
        plain.event(1, &reload).unwrap();
        assert_eq!(demand(&mut plain, 1), 6);
    }

    #[test]
    fn every_event_has_its_kind_and_its_values() {
        let script = "fn init(i) { #{ seen: 0 } }\nfn decide(obs) { demand_kBps(this.seen) }\n\
                      fn on_event(ev) { this.seen = switch ev.kind { \"resumed\" => ev.slept_ms, \
                      \"cpus_changed\" => ev.cpus, \"limits_changed\" => 3, _ => 4 }; }";
        let mut policy = policy(script);
        let mut after = |event: PolicyEvent| {
            policy.event(0, &event).unwrap();
            demand(&mut policy, 0)
        };
        assert_eq!(after(PolicyEvent::Resumed { slept_ms: 1_500 }), 1_500);
        assert_eq!(after(PolicyEvent::CpusChanged { cpus: 6 }), 6);
        assert_eq!(after(PolicyEvent::LimitsChanged), 3);
        assert_eq!(after(PolicyEvent::Reload { old_state: None, old_digest: String::new() }), 4);
    }

    #[test]
    fn a_fault_in_an_event_resets_the_state_of_that_domain() {
        for body in
            ["this.n = ev.old_state.n;", "this.n = \"x\";", "loop {}", "this.n = ev.slept_ms;"]
        {
            let mut policy = policy(&format!("{COUNTS}fn on_event(ev) {{ {body} }}"));
            demand(&mut policy, 0);
            demand(&mut policy, 1);
            policy.event(1, &PolicyEvent::LimitsChanged).unwrap_err();
            assert_eq!((demand(&mut policy, 0), demand(&mut policy, 1)), (7, 6), "{body}");
        }
    }
}
