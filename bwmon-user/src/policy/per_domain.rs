//! One policy for each domain: what a product makes that gives its domains different ones.

use super::{Policy, PolicyEvent, PolicyFault, PolicySpec, Proposal};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::journal::{PartRecord, PolicyRecord};
use crate::observe::Observation;

/// Some domains and their policy, before it is made for a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Their policy.
    pub spec: PolicySpec,
}

/// A policy per domain. Each is made for the whole board, so it sees the readings of all domains; it
/// is asked about its own ones only.
pub struct PerDomain {
    name: String,
    policies: Vec<Box<dyn Policy>>,
    /// For each domain of the board, the index of its policy.
    of: Vec<usize>,
}

impl PerDomain {
    /// Makes `parts` for `board`, and their record for the journal.
    ///
    /// # Errors
    /// What is wrong with a policy, or a domain that has none, several, or is not there.
    pub fn new(parts: Vec<Part>, board: &Board) -> Result<(Self, PolicyRecord), Diagnostic> {
        let name = title(&parts);
        let wrong = |what: String| Err(Diagnostic::new(name.clone(), what));
        let mut of: Vec<Option<usize>> = vec![None; board.domains.len()];
        for (index, part) in parts.iter().enumerate() {
            if matches!(part.spec, PolicySpec::PerDomain(_)) {
                return wrong("a policy per domain cannot stand in another".into());
            }
            for domain in &part.domains {
                match board.domain_index(domain).and_then(|at| of.get_mut(at)) {
                    Some(place @ None) => *place = Some(index),
                    Some(Some(_)) => return wrong(format!("domain {domain} has two policies")),
                    None => {
                        return wrong(format!("the board {} has no domain {domain}", board.id));
                    }
                }
            }
        }
        if let Some((domain, _)) = board.domains.iter().zip(&of).find(|(_, of)| of.is_none()) {
            return wrong(format!("domain {} has no policy", domain.name));
        }
        let mut policies = Vec::new();
        let mut records = Vec::new();
        for Part { domains, spec } in parts {
            let (policy, record) = spec.build(board)?;
            policies.push(policy);
            records.push(PartRecord { domains, policy: record });
        }
        let record =
            PolicyRecord { name: name.clone(), policies: records, ..PolicyRecord::default() };
        Ok((Self { name, policies, of: of.into_iter().flatten().collect() }, record))
    }

    fn policy(&self, domain: usize) -> Option<&dyn Policy> {
        let index = self.of.get(domain)?;
        self.policies.get(*index).map(AsRef::as_ref)
    }

    fn of(&mut self, domain: usize) -> Option<&mut Box<dyn Policy>> {
        self.of.get(domain).and_then(|index| self.policies.get_mut(*index))
    }
}

/// What reports call it: `llcc: bw_hwmon; ddr, l3: bwmon`.
fn title(parts: &[Part]) -> String {
    let part = |part: &Part| format!("{}: {}", part.domains.join(", "), part.spec.title());
    parts.iter().map(part).collect::<Vec<_>>().join("; ")
}

impl Policy for PerDomain {
    fn name(&self) -> &str {
        &self.name
    }

    fn name_for(&self, domain: usize) -> &str {
        self.policy(domain).map_or(&self.name, |policy| policy.name())
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        match self.of(domain) {
            Some(policy) => policy.decide(all, domain),
            // Checked when it was made: there is one for every domain.
            None => Ok(Proposal::new(super::Ask::Max, "no policy")),
        }
    }

    fn reset(&mut self, domain: usize) {
        if let Some(policy) = self.of(domain) {
            policy.reset(domain);
        }
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.of(domain).map_or(Ok(()), |policy| policy.event(domain, event))
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.policy(domain)?.state(domain)
    }

    fn digest_for(&self, domain: usize) -> &str {
        self.policy(domain).map_or("", |policy| policy.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Level, builtin};
    use crate::policy::script::Source;
    use crate::policy::testing::observation;
    use crate::policy::{Ask, FaultKind};

    fn board() -> Board {
        builtin("sdm845").unwrap().unwrap()
    }

    fn part(domains: &[&str], text: &str) -> Part {
        let source = Source { name: format!("{}.rhai", domains.join("-")), text: text.into() };
        let domains = domains.iter().map(|&name| name.to_owned()).collect();
        Part { domains, spec: PolicySpec::Script { source, set: Vec::new() } }
    }

    const COUNTS: &str = "fn init(info) { #{ n: 0 } }\n\
                          fn decide(obs) { this.n += 1; if this.n > 2 { throw \"three\" } opp(this.n) }";

    #[test]
    fn each_domain_is_decided_by_its_own_policy_and_state() {
        let parts =
            vec![part(&["l3", "llcc"], COUNTS), part(&["ddr"], "fn decide(obs) { opp_max() }")];
        let (mut policy, record) = PerDomain::new(parts, &board()).unwrap();
        assert_eq!(policy.name(), "l3, llcc: l3-llcc.rhai; ddr: ddr.rhai");
        assert_eq!(policy.name_for(1), "ddr.rhai");
        let all = [observation(); 3];
        let mut ask = |domain: usize| policy.decide(&all, domain).map(|proposal| proposal.ask);
        // llcc twice, l3 once: a shared script keeps a state for each domain.
        assert_eq!(ask(0).unwrap(), Ask::Opp(Level(1)));
        assert_eq!(ask(0).unwrap(), Ask::Opp(Level(2)));
        assert_eq!(ask(2).unwrap(), Ask::Opp(Level(1)));
        assert_eq!(ask(1).unwrap(), Ask::Max);
        assert_eq!(ask(0).unwrap_err().kind, FaultKind::Error);
        // Its state is fresh after the fault, that of the other domain is not.
        assert_eq!(ask(0).unwrap(), Ask::Opp(Level(1)));
        assert_eq!(ask(2).unwrap(), Ask::Opp(Level(2)));
        policy.reset(2);
        assert_eq!(policy.decide(&all, 2).unwrap().ask, Ask::Opp(Level(1)));
        assert_eq!(record.policies.len(), 2);
    }

    #[test]
    fn its_record_makes_it_again() {
        let parts =
            vec![part(&["l3", "llcc"], COUNTS), part(&["ddr"], "fn decide(obs) { hold() }")];
        let spec = PolicySpec::PerDomain(parts);
        let (_, record) = spec.clone().build(&board()).unwrap();
        let text = serde_json::to_string(&record).unwrap();
        let read: PolicyRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(PolicySpec::from_record(&read), spec);
        // A program that does not know the key sees a policy without a source and refuses it.
        assert!(read.source.is_empty() && !crate::policy::is_compiled_in(&read.name));
    }

    #[test]
    fn a_domain_without_a_policy_with_two_or_that_is_not_there_is_refused() {
        let hold = "fn decide(obs) { hold() }";
        for (parts, said) in [
            (vec![part(&["llcc", "ddr"], hold)], "domain l3 has no policy"),
            (vec![part(&["llcc", "ddr", "l3"], hold), part(&["ddr"], hold)], "ddr has two"),
            (vec![part(&["llcc", "ddr", "l3", "gpu"], hold)], "has no domain gpu"),
            (vec![part(&["llcc", "ddr", "l3"], "fn decide() {}")], "takes 0 arguments"),
            (
                vec![Part { domains: vec![], spec: PolicySpec::PerDomain(vec![]) }],
                "cannot stand in another",
            ),
        ] {
            let fault = PerDomain::new(parts, &board()).map(|_| ()).unwrap_err().to_string();
            assert!(fault.contains(said), "{said}: {fault}");
        }
    }
}
