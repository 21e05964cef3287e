//! Which policy and which limits a run gets: from a product, or from the command line.

use super::common::{self, PolicyArgs};
use super::products::{self, SearchArgs};
use crate::board::Board;
use crate::config::Config;
use crate::decide::{Rails, Unvoted};
use crate::journal::ProductRecord;
use crate::live::Root;
use crate::live::bundles::{Id, Store};
use crate::policy::PolicySpec;
use crate::product::{
    Catalog, DEFAULT_POLICY, EffectiveDomain, Fit, Given, GivenLimit, LimitKey, Limits,
    MachineFacts, Origin, Product, domain_limits, effective, plan, resolve, stands,
};
use std::path::PathBuf;

/// What goes over a product: `--preset`, `--set` and limits.
#[derive(clap::Args, Debug, Default, Clone)]
pub(super) struct GivenArgs {
    /// Settings that belong together, from the policy's head; `--set` goes over them
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value)]
    set: Vec<(String, String)>,
    /// The lowest level allowed, on every domain
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i64).range(0..=63))]
    min_level: Option<i64>,
    /// The highest level allowed, on every domain
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i64).range(0..=63))]
    max_level: Option<i64>,
    /// A limit, for all domains or for one (ddr.min_kBps=800000): min_kBps, max_kBps, min_level,
    /// max_level, max_step_down, min_dwell_ms, max_transitions_per_s. May be given several times; a
    /// product's limits can only be tightened
    #[arg(long, value_name = "[DOMAIN.]LIMIT=VALUE")]
    limit: Vec<GivenLimit>,
    /// Those of a configuration file; the command line goes over them.
    #[arg(skip)]
    configured: Vec<GivenLimit>,
}

impl GivenArgs {
    pub(super) fn given(&self) -> Given {
        let levels = [
            (LimitKey::MinLevel, "--min-level", self.min_level),
            (LimitKey::MaxLevel, "--max-level", self.max_level),
        ];
        let plain = |(key, option, value): (LimitKey, &str, Option<i64>)| {
            let value = value?;
            Some(GivenLimit { domain: None, key, value, option: format!("{option} {value}") })
        };
        Given {
            preset: self.preset.clone(),
            set: self.set.clone(),
            limits: self
                .configured
                .iter()
                .cloned()
                .chain(levels.into_iter().filter_map(plain))
                .chain(self.limit.clone())
                .collect(),
        }
    }
}

/// `--policy`, `--product` and what goes over them.
#[derive(clap::Args, Debug, Default, Clone)]
pub(super) struct ChoiceArgs {
    /// The policy: a .rhai file, `native` (the kernel's rule in Rust), or a built-in one such as
    /// `bwmon` (the kernel's rule as a script) or `adaptive`; goes over products. Without it,
    /// `bwmon run` looks for the product of the machine [default: bwmon]
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,
    /// Take policies and limits from this product, whatever the machine is
    #[arg(long, value_name = "NAME|FILE")]
    product: Option<String>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// The policy or the product is a configuration file's.
    #[arg(skip)]
    configured: bool,
}

/// A product and how it was come by.
pub(super) struct Picked {
    /// The product; `None` for a plain policy.
    pub(super) product: Option<Product>,
    /// How it was come by, for the journal.
    why: String,
    /// What the operator should know.
    pub(super) notes: Vec<String>,
    catalog: Catalog,
}

/// Policy and limits for a board.
pub(super) struct Fitted {
    /// The policy.
    pub(super) spec: PolicySpec,
    /// The rails, one entry per domain.
    pub(super) rails: Vec<Rails>,
    /// The product, for the journal.
    pub(super) record: Option<ProductRecord>,
    /// What the operator should know.
    pub(super) notes: Vec<String>,
}

impl ChoiceArgs {
    /// The same, with what `config` says where the command line says nothing. Preset and tunables
    /// of the file are its policy's, so they stay with it.
    pub(super) fn over(&self, config: &Config) -> Self {
        let mut settled = self.clone();
        if self.policy.is_none() && self.product.is_none() {
            settled.configured = config.policy.is_some() || config.product.is_some();
            settled.policy.clone_from(&config.policy);
            settled.product.clone_from(&config.product);
            settled.given.preset = self.given.preset.clone().or_else(|| config.preset.clone());
            settled.given.set = config.params.iter().chain(&self.given.set).cloned().collect();
        }
        if self.search.products.is_empty() {
            settled.search.products = config.products.iter().map(PathBuf::from).collect();
        }
        settled.given.configured.clone_from(&config.limits);
        settled
    }

    /// The files and folders that may change which product is picked, and what it says.
    pub(super) fn watched(&self, picked: &Picked, root: &Root) -> Vec<PathBuf> {
        if self.policy.is_some() && self.product.is_none() {
            return Vec::new();
        }
        let files = picked.product.iter().flat_map(|product| {
            std::iter::once(&product.file).chain(&product.bases).map(|file| PathBuf::from(&**file))
        });
        self.search.folders(root).into_iter().chain(files).collect()
    }

    /// The store of installed bundles.
    pub(super) fn store(&self, root: &Root) -> Store {
        self.search.store(root)
    }

    /// Whether a policy of one's own is asked for, whatever the product says.
    pub(super) fn has_policy(&self) -> bool {
        self.policy.is_some()
    }

    /// The same without installed bundles.
    pub(super) fn without_store(&self) -> Self {
        let search = SearchArgs { without_store: true, ..self.search.clone() };
        Self { search, ..self.clone() }
    }

    /// The product for the machine of `facts`: the one that is asked for, else the one that fits,
    /// unless a policy is asked for.
    pub(super) fn pick(&self, root: &Root, facts: &MachineFacts) -> anyhow::Result<Picked> {
        match (&self.product, &self.policy) {
            (Some(_), _) => self.asked(root, Some(facts)),
            (None, Some(policy)) => Ok(plain(vec![format!(
                "policy {policy}, by {}; products are left aside, and their limits too",
                self.by("--policy")
            )])),
            (None, None) => {
                let catalog = self.search.catalog(root)?;
                let products = catalog.all()?;
                let found = resolve(&products, facts);
                let Some(chosen) = found.chosen()? else {
                    return Ok(plain(vec![format!(
                        "no product fits this machine (`bwmon policy which --explain` says why); \
                         policy {DEFAULT_POLICY}"
                    )]));
                };
                let why = chosen.why();
                let is = |product: &Product| product.name.value == chosen.name;
                let product = products.into_iter().find(is);
                let title = product.as_ref().map(Product::title).unwrap_or_default();
                let notes = vec![format!("product {title} ({}): {why}", chosen.file)];
                Ok(Picked { product, why, notes, catalog })
            }
        }
    }

    /// The product that is asked for; without facts nobody says whether it fits.
    pub(super) fn asked(
        &self,
        root: &Root,
        facts: Option<&MachineFacts>,
    ) -> anyhow::Result<Picked> {
        let Some(name) = &self.product else {
            if let Some(folder) = self.search.products.first() {
                anyhow::bail!("--products {} without --product NAME", folder.display());
            }
            return Ok(plain(Vec::new()));
        };
        let catalog = self.search.catalog(root)?;
        let product = products::named(&catalog, name)?;
        let stands = facts.map(|facts| stands(&product, facts));
        let by = self.by("--product");
        let head = format!("product {} ({}), by {by}", product.title(), product.file);
        let mut notes = vec![head];
        if let Some(stands) = &stands
            && !matches!(stands.fit, Fit::Fits(_))
        {
            let why = stands.why();
            notes.push(format!("warning: {} is not for this machine: {why}", stands.name));
        }
        if let Some(policy) = &self.policy {
            notes.push(format!("policy {policy}, by --policy; of the product, the limits stay"));
        }
        Ok(Picked { product: Some(product), why: format!("by {by}"), notes, catalog })
    }

    fn by(&self, option: &'static str) -> &'static str {
        if self.configured { "the configuration" } else { option }
    }

    /// What `picked` comes to on `board`.
    pub(super) fn fit(
        &self,
        picked: &Picked,
        board: &Board,
        unvoted: Unvoted,
    ) -> anyhow::Result<Fitted> {
        let given = self.given.given();
        let record = picked.product.as_ref().map(|product| picked.record(product));
        if let (Some(product), None) = (&picked.product, &self.policy) {
            let domains = effective(product, board, &given, unvoted, &mut products::script)?;
            let notes = domains.iter().map(said).collect();
            let rails = domains.iter().map(|domain| domain.rails).collect();
            return Ok(Fitted { spec: plan(&domains), rails, record, notes });
        }
        let policy = self.policy.clone().unwrap_or_else(|| DEFAULT_POLICY.to_owned());
        let spec = PolicyArgs { policy, preset: given.preset.clone(), set: given.set.clone() };
        let spec = spec.spec()?;
        let limits = domain_limits(picked.product.as_ref(), board, &given)?;
        let (mut rails, mut notes) = (Vec::new(), Vec::new());
        for (domain, limits) in board.domains.iter().zip(limits) {
            rails.push(limits.rails(domain, unvoted)?);
            if !limits.0.is_empty() {
                notes.push(format!("domain {}: {}", domain.name, limits_said(&limits)));
            }
        }
        Ok(Fitted { spec, rails, record, notes })
    }
}

impl Picked {
    /// The board that the product names.
    pub(super) fn board(&self) -> Option<anyhow::Result<Board>> {
        products::board(self.product.as_ref()?)
    }

    /// The built-in board that the product seems to be for.
    pub(super) fn guessed_board(&self, facts: &MachineFacts) -> Option<Board> {
        crate::product::guessed_board(&self.catalog, self.product.as_ref()?, facts)
    }

    /// The distance of the ticks that the product wants.
    pub(super) fn period_us(&self) -> Option<u64> {
        let period = self.product.as_ref()?.period_us.as_ref()?;
        u64::try_from(period.value).ok()
    }

    /// The bundle that the product came in.
    pub(super) fn bundle(&self) -> Option<Id> {
        self.catalog.bundle_of(self.product.as_ref()?).cloned().map(Id::from)
    }

    fn record(&self, product: &Product) -> ProductRecord {
        let files = std::iter::once(&product.file).chain(&product.bases);
        ProductRecord {
            name: product.name.value.clone(),
            version: product.version.as_ref().map(|version| version.value.clone()),
            files: files.map(ToString::to_string).collect(),
            why: self.why.clone(),
            bundle: self.catalog.bundle_of(product).cloned(),
        }
    }
}

fn plain(notes: Vec<String>) -> Picked {
    Picked { product: None, why: String::new(), notes, catalog: Catalog::default() }
}

/// One domain of a product, in a line.
fn said(domain: &EffectiveDomain) -> String {
    let mut line = format!("domain {}: policy {}", domain.name, domain.policy.value);
    if let Some(preset) = &domain.preset {
        line += &format!(", preset {}", preset.value);
    }
    for param in &domain.params {
        if matches!(param.origin, Origin::Written(_)) {
            line += &format!(", {}={}", param.name, param.value);
        }
    }
    if !domain.limits.0.is_empty() {
        line += "; ";
        line += &limits_said(&domain.limits);
    }
    line
}

fn limits_said(limits: &Limits) -> String {
    let each = |(key, limit): (&LimitKey, &crate::product::Sourced<i64>)| {
        format!("{}={}", key.name(), limit.value)
    };
    format!("limits {}", limits.0.iter().map(each).collect::<Vec<_>>().join(", "))
}
