//! What a product comes to on a board: one policy with its values and one set of rails per domain,
//! each value with where it comes from.

use super::at::{At, Sourced};
use super::given::{Given, domain_limits, no_domain};
use super::limits::Limits;
use super::{DEFAULT_POLICY, Product, Settings};
use crate::board::{Board, Domain};
use crate::decide::{Rails, Unvoted};
use crate::diag::{Diagnostic, did_you_mean};
use crate::policy::script::{Declared, Source};
use crate::policy::{NATIVE, Part, PolicySpec, library, stage};
use std::collections::BTreeMap;
use std::fmt;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From here.
    Written(At),
    /// From a preset that was asked for here.
    Preset(String, At),
    /// Nothing is said: the default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(at) => write!(f, "{at}"),
            Self::Preset(name, at) => write!(f, "preset {name}, {at}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value, as text.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// One domain of a product on a board.
#[derive(Clone, Debug)]
pub struct EffectiveDomain {
    /// The domain.
    pub name: String,
    /// Its policy.
    pub policy: Setting,
    /// The preset of that policy.
    pub preset: Option<Setting>,
    /// All tunables of that policy.
    pub params: Vec<Setting>,
    /// The limits.
    pub limits: Limits,
    /// The rails that they make.
    pub rails: Rails,
    spec: PolicySpec,
}

/// Reads the script that a product names at a place; says what is wrong with it.
pub type Loader<'a> = &'a mut dyn FnMut(&str, &At) -> Result<Source, String>;

/// What `product` with `given` over it comes to on `board`.
///
/// # Errors
/// A domain, policy, preset, tunable or limit that does not fit, with its place.
pub fn effective(
    product: &Product,
    board: &Board,
    given: &Given,
    unvoted: Unvoted,
    load: Loader<'_>,
) -> Result<Vec<EffectiveDomain>, Diagnostic> {
    for (name, domain) in &product.domains {
        if board.domain_index(name).is_none() {
            return Err(no_domain(board, name, &domain.at));
        }
    }
    let limits = domain_limits(Some(product), board, given)?;
    let mut known = Known::default();
    let mut domains = Vec::new();
    for (domain, limits) in board.domains.iter().zip(limits) {
        let rails = limits.rails(domain, unvoted)?;
        let settings = product.settings_of(&domain.name);
        let (policy, script) = script(&settings, load)?;
        let found = values(&settings, script.as_ref(), given, &mut known)?;
        domains.push(one(domain, policy, script, found, (limits, rails)));
    }
    known.all_used(product, given)?;
    for domain in &domains {
        if let PolicySpec::Chain(text) = &domain.spec
            && let Err(error) = stage::Chain::new(text, board)
            && let Origin::Written(at) = &domain.policy.origin
        {
            let fault = at.fault(error.to_string());
            return Err(fault.help("`bwmon policy docs` lists the stages"));
        }
    }
    Ok(domains)
}

fn one(
    domain: &Domain,
    policy: Setting,
    script: Option<(Source, Declared)>,
    found: Found,
    (limits, rails): (Limits, Rails),
) -> EffectiveDomain {
    let set = |setting: &&Setting| setting.origin != Origin::Default;
    let pair = |setting: &Setting| (setting.name.clone(), setting.value.clone());
    let spec = match script {
        Some((source, _)) => {
            PolicySpec::Script { source, set: found.params.iter().filter(set).map(pair).collect() }
        }
        None if policy.value == NATIVE => PolicySpec::Native,
        None => PolicySpec::Chain(policy.value.clone()),
    };
    let Found { preset, params } = found;
    EffectiveDomain { name: domain.name.clone(), policy, preset, params, limits, rails, spec }
}

/// The policy for all of `domains`: one, or one for each where they differ.
pub fn plan(domains: &[EffectiveDomain]) -> PolicySpec {
    let mut parts: Vec<Part> = Vec::new();
    for domain in domains {
        match parts.iter_mut().find(|part| part.spec == domain.spec) {
            Some(part) => part.domains.push(domain.name.clone()),
            None => {
                parts.push(Part { domains: vec![domain.name.clone()], spec: domain.spec.clone() })
            }
        }
    }
    match parts.as_slice() {
        [one] => one.spec.clone(),
        _ => PolicySpec::PerDomain(parts),
    }
}

/// The policy's name, and its script unless it is compiled in.
fn script(
    settings: &Settings,
    load: Loader<'_>,
) -> Result<(Setting, Option<(Source, Declared)>), Diagnostic> {
    let (value, origin) = match &settings.policy {
        Some(policy) => (policy.value.clone(), Origin::Written(policy.at.clone())),
        None => (DEFAULT_POLICY.to_owned(), Origin::Default),
    };
    let policy = Setting { name: "policy".into(), value, origin };
    let name = policy.value.as_str();
    if name == NATIVE || name.starts_with(stage::PREFIX) {
        return Ok((policy, None));
    }
    let source = match (library::shipped(name), &policy.origin) {
        (Some(shipped), _) => Source { name: name.to_owned(), text: shipped.text.to_owned() },
        (None, Origin::Written(at)) if name.contains('/') || name.ends_with(".rhai") => {
            load(name, at).map_err(|why| {
                at.fault(why).help("a script is looked for beside the file that names it")
            })?
        }
        (None, Origin::Written(at)) => return Err(no_policy(name, at)),
        (None, _) => return Err(Diagnostic::new(name, "no such policy")),
    };
    let head = Declared::read(&source)?;
    Ok((policy, Some((source, head))))
}

fn no_policy(name: &str, at: &At) -> Diagnostic {
    let fault = at.fault(format!("there is no policy {name}"));
    match did_you_mean(name, library::names()) {
        Some(near) => fault.help(format!("did you mean {near}?")),
        None => fault.help(format!(
            "these are built in: {}; a script's name ends in .rhai",
            library::names().collect::<Vec<_>>().join(", ")
        )),
    }
}

struct Found {
    preset: Option<Setting>,
    params: Vec<Setting>,
}

/// What was given on the command line and found its place in some domain.
#[derive(Default)]
struct Known {
    names: Vec<String>,
    presets: Vec<String>,
}

impl Known {
    /// A tunable or preset that no domain's policy has was misspelt.
    fn all_used(&self, product: &Product, given: &Given) -> Result<(), Diagnostic> {
        let check = |option: String, what: &str, name: &str, known: &[String]| {
            if known.iter().any(|other| other == name) {
                return Ok(());
            }
            let title = &product.name.value;
            let message = format!("no policy of the product {title} has a {what} called {name}");
            let fault = Diagnostic::new(option, message);
            Err(match did_you_mean(name, known.iter().map(String::as_str)) {
                Some(near) => fault.help(format!("did you mean {near}?")),
                None => fault.help("`bwmon policy list --product` shows what there is"),
            })
        };
        for (name, value) in &given.set {
            check(format!("--set {name}={value}"), "tunable", name, &self.names)?;
        }
        match &given.preset {
            Some(name) => check(format!("--preset {name}"), "preset", name, &self.presets),
            None => Ok(()),
        }
    }
}

/// The tunables in use: defaults, preset, the product's own, the command line's preset and values.
fn values(
    settings: &Settings,
    script: Option<&(Source, Declared)>,
    given: &Given,
    known: &mut Known,
) -> Result<Found, Diagnostic> {
    let Some((source, head)) = script else {
        let of = "it is compiled in, and takes neither preset nor tunables";
        if let Some(preset) = &settings.preset {
            return Err(preset
                .at
                .fault(format!("the policy has no preset {}", preset.value))
                .help(of));
        }
        return match settings.params.iter().next() {
            Some((name, param)) => {
                Err(param.at.fault(format!("the policy has no tunable {name}")).help(of))
            }
            None => Ok(Found { preset: None, params: Vec::new() }),
        };
    };
    known.names.extend(head.params.iter().map(|param| param.name.clone()));
    known.presets.extend(head.presets.iter().map(|preset| preset.name.clone()));
    let mut all = Values { source, head, values: BTreeMap::new() };
    let mut used = None;
    if let Some(preset) = &settings.preset {
        all.preset(preset)?;
        used = Some(preset.clone());
    }
    for (name, param) in &settings.params {
        all.put(name, &param.value, Origin::Written(param.at.clone()), &param.at)?;
    }
    if let Some(name) = &given.preset
        && head.presets.iter().any(|preset| preset.name == *name)
    {
        let preset = Sourced { value: name.clone(), at: At::Given(format!("--preset {name}")) };
        all.preset(&preset)?;
        used = Some(preset);
    }
    for (name, value) in &given.set {
        if head.params.iter().any(|param| param.name == *name) {
            let at = At::Given(format!("--set {name}={value}"));
            all.put(name, value, Origin::Written(at.clone()), &at)?;
        }
    }
    let preset = used.map(|preset| Setting {
        name: "preset".into(),
        value: preset.value,
        origin: Origin::Written(preset.at),
    });
    Ok(Found { preset, params: all.settings() })
}

struct Values<'a> {
    source: &'a Source,
    head: &'a Declared,
    values: BTreeMap<String, (String, Origin)>,
}

impl Values<'_> {
    fn preset(&mut self, preset: &Sourced<String>) -> Result<(), Diagnostic> {
        let name = &preset.value;
        let set = self.head.preset(self.source, name).map_err(|fault| moved(fault, &preset.at))?;
        for (param, value) in set {
            let origin = Origin::Preset(name.clone(), preset.at.clone());
            self.put(&param, &value, origin, &preset.at)?;
        }
        Ok(())
    }

    fn put(&mut self, name: &str, text: &str, from: Origin, at: &At) -> Result<(), Diagnostic> {
        let value = self.head.value(self.source, name, text).map_err(|fault| moved(fault, at))?;
        self.values.insert(name.to_owned(), (value.to_string(), from));
        Ok(())
    }

    /// Every tunable, in the order of the script.
    fn settings(self) -> Vec<Setting> {
        let setting = |param: &crate::policy::script::Param| {
            let (value, origin) = match self.values.get(&param.name) {
                Some((value, origin)) => (value.clone(), origin.clone()),
                None => (param.default.to_string(), Origin::Default),
            };
            Setting { name: param.name.clone(), value, origin }
        };
        self.head.params.iter().map(setting).collect()
    }
}

/// A fault of a script's head about a value that was written at `at`.
fn moved(fault: Diagnostic, at: &At) -> Diagnostic {
    let Diagnostic { file, message, help, .. } = fault;
    let moved = at.fault(format!("{message} (policy {file})"));
    match help {
        Some(help) => moved.help(help),
        None => moved,
    }
}

#[cfg(test)]
#[path = "effective_tests.rs"]
mod tests;
