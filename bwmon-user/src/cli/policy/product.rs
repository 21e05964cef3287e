//! `bwmon policy list --product`: what a product comes to on a board, and where each value comes from.

use crate::board::Board;
use crate::cli::Answer;
use crate::cli::choose::GivenArgs;
use crate::cli::common;
use crate::cli::output::{json, line, table};
use crate::cli::products::{self, SearchArgs};
use crate::decide::Unvoted;
use crate::live::Root;
use crate::product::{EffectiveDomain, Origin, Product, Setting, effective, plan, resolve};
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::path::PathBuf;

/// `--product` of `bwmon policy list` and what belongs to it.
#[derive(clap::Args)]
pub(in crate::cli) struct ProductArgs {
    /// Show what a product comes to, each value with where it comes from [default without a name:
    /// the product of this machine]
    #[arg(long, value_name = "NAME|FILE", num_args = 0..=1, default_missing_value = "")]
    product: Option<String>,
    /// The board on which to show the product [default: as the product or the machine says]
    #[arg(long, value_name = "BOARD|FILE", requires = "product")]
    board: Option<String>,
    /// What the machine says about itself, from a file [default: this machine]
    #[arg(long, value_name = "FILE", requires = "product")]
    facts: Option<String>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// Look for /sys, /proc and /etc under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
}

impl ProductArgs {
    /// Whether a product is asked for.
    pub(super) fn asked(&self) -> bool {
        self.product.is_some()
    }
}

#[derive(Serialize)]
struct Report {
    product: String,
    version: Option<String>,
    what: Option<String>,
    file: String,
    bases: Vec<String>,
    board: Row,
    period_us: Option<Row>,
    domains: Vec<DomainRow>,
}

/// A value and where it comes from.
#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    value: String,
    from: String,
}

#[derive(Serialize)]
struct DomainRow {
    name: String,
    policy: Row,
    preset: Option<Row>,
    params: Vec<Row>,
    limits: Vec<Row>,
    /// The levels that the limits leave.
    min_level: usize,
    max_level: usize,
}

pub(super) fn main(args: &ProductArgs, as_json: bool) -> anyhow::Result<Answer> {
    let root = Root::at(&args.root);
    let facts = products::facts(&root, args.facts.as_deref())?;
    let catalog = args.search.catalog(&root)?;
    let product = match args.product.as_deref() {
        Some("") | None => {
            let products = catalog.all()?;
            let found = resolve(&products, &facts);
            let Some(chosen) = found.chosen()? else {
                bail!(
                    "no product fits this machine; name one of {}",
                    catalog.names().collect::<Vec<_>>().join(", ")
                );
            };
            let name = chosen.name.clone();
            products.into_iter().find(|p| p.name.value == name).ok_or_else(|| anyhow!("{name}"))?
        }
        Some(name) => products::named(&catalog, name)?,
    };
    let written = product.board.as_ref().map(|board| board.at.to_string());
    let (board, from) = match (&args.board, products::board(&product)) {
        (Some(name), _) => (common::board(name)?, "--board".to_owned()),
        (None, Some(board)) => (board?, written.unwrap_or_default()),
        (None, None) => match crate::product::guessed_board(&catalog, &product, &facts) {
            Some(board) => (board, "dt_compatible".to_owned()),
            None => bail!("which board? {} names none; give --board", product.title()),
        },
    };
    let given = args.given.given();
    let domains = effective(&product, &board, &given, Unvoted::Top, &mut products::script)?;
    // A script that does not compile is no policy, however good its values look.
    plan(&domains).build(&board)?;
    let report = report(&product, &board, from, &domains);
    if as_json {
        json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(Answer::Yes)
}

fn report(product: &Product, board: &Board, from: String, domains: &[EffectiveDomain]) -> Report {
    let text = |s: &Option<crate::product::Sourced<String>>| s.as_ref().map(|s| s.value.clone());
    Report {
        product: product.name.value.clone(),
        version: text(&product.version),
        what: text(&product.what),
        file: product.file.to_string(),
        bases: product.bases.iter().map(ToString::to_string).collect(),
        board: Row { name: None, value: board.id.clone(), from },
        period_us: product.period_us.as_ref().map(|period| Row {
            name: None,
            value: period.value.to_string(),
            from: period.at.to_string(),
        }),
        domains: domains.iter().map(domain).collect(),
    }
}

fn domain(domain: &EffectiveDomain) -> DomainRow {
    let row = |named: bool| {
        move |setting: &Setting| Row {
            name: named.then(|| setting.name.clone()),
            value: setting.value.clone(),
            from: match &setting.origin {
                Origin::Default if named => "default of the policy".into(),
                other => other.to_string(),
            },
        }
    };
    let limits = domain.limits.0.iter().map(|(key, limit)| Row {
        name: Some(key.name().to_owned()),
        value: limit.value.to_string(),
        from: limit.at.to_string(),
    });
    DomainRow {
        name: domain.name.clone(),
        policy: row(false)(&domain.policy),
        preset: domain.preset.as_ref().map(row(false)),
        params: domain.params.iter().map(row(true)).collect(),
        limits: limits.collect(),
        min_level: domain.rails.min_level.0,
        max_level: domain.rails.max_level.0,
    }
}

fn print(report: &Report) -> anyhow::Result<()> {
    let version = report.version.as_deref().map(|v| format!(" {v}")).unwrap_or_default();
    let what = report.what.as_deref().map(|what| format!(": {what}")).unwrap_or_default();
    line(&format!("{}{version}{what}", report.product))?;
    let chain: Vec<&str> =
        std::iter::once(&report.file).chain(&report.bases).map(String::as_str).collect();
    line(&format!("{}\n", chain.join(", over ")))?;
    let mut rows = vec![cells("", "board", &report.board)];
    rows.extend(report.period_us.iter().map(|row| cells("", "period_us", row)));
    for domain in &report.domains {
        rows.push(cells(&domain.name, "policy", &domain.policy));
        rows.extend(domain.preset.iter().map(|row| cells(&domain.name, "preset", row)));
        for row in domain.params.iter().chain(&domain.limits) {
            rows.push(cells(&domain.name, row.name.as_deref().unwrap_or_default(), row));
        }
        let levels = format!("{} to {}", domain.min_level, domain.max_level);
        let from = "the limits on this board".to_owned();
        rows.push(cells(&domain.name, "levels", &Row { name: None, value: levels, from }));
    }
    line(&table(&["domain", "what", "value", "from"], &[], rows))
}

fn cells(domain: &str, what: &str, row: &Row) -> Vec<String> {
    vec![domain.to_owned(), what.to_owned(), row.value.clone(), row.from.clone()]
}
