//! Product files: TOML to a [`Product`], with the place of whatever is wrong.

use super::at::Sourced;
use super::glob::Glob;
use super::kernel::KernelRange;
use super::limits::{LimitKey, Limits};
use super::matching::{Match, MatchKey, Test};
use super::reader::{Item, Table, Text};
use super::{Product, Settings};
use crate::diag::Diagnostic;

/// Keys at the top of a product file.
const TOP: [&str; 12] = [
    "schema",
    "name",
    "version",
    "what",
    "extends",
    "abstract",
    "board",
    "period_us",
    "match",
    "policy",
    "limits",
    "domain",
];

/// Distance of the ticks, as `bwmon run --period-us` takes it.
pub const PERIOD_US: std::ops::RangeInclusive<i64> = 1_000..=1_000_000;

/// Parses the product file `text`; `file` is its name in errors.
///
/// # Errors
/// The first fault, with its place and what to do.
pub fn parse(file: &str, text: &str) -> Result<Product, Diagnostic> {
    let text = Text::new(file, text);
    let whole = text.parse()?;
    let table = Table::new(&text, "a product", whole.get_ref(), &TOP)?;
    schema(&text, &table)?;
    let Some(name) = table.get("name") else {
        return Err(Diagnostic::new(file, "the product has no name")
            .help("write name = \"…\", as the file is called without .toml"));
    };
    let name = plain(name.string()?, "a product's name")?;
    let mut product = Product::empty(name, file);
    for item in table.items() {
        match item.key {
            "version" => product.version = Some(shown(item.string()?)?),
            "what" => product.what = Some(shown(item.string()?)?),
            "extends" => {
                product.extends = Some(plain(item.string()?, "the name of a product to extend")?);
            }
            "abstract" => product.is_abstract = item.boolean()?,
            "board" => product.board = Some(item.string()?),
            "period_us" => product.period_us = Some(item.number(PERIOD_US)?),
            "match" => product.matching = matching(&text, &item)?,
            "policy" => policy(&text, &item, &mut product.settings)?,
            "limits" => product.settings.limits = limits(&text, &item)?,
            "domain" => {
                for item in Table::open(&text, item.table()?).items() {
                    let settings = domain(&text, &item)?;
                    let value = Sourced { value: settings, at: item.at_key() };
                    product.domains.insert(item.key.to_owned(), value);
                }
            }
            _ => {}
        }
    }
    Ok(product)
}

fn schema(text: &Text<'_>, table: &Table<'_, '_>) -> Result<(), Diagnostic> {
    let Some(item) = table.get("schema") else {
        return Err(Diagnostic::new(&*text.file, "the product has no schema")
            .help("a product file begins with schema = 1"));
    };
    let schema = item.number(0..=i64::MAX)?;
    if schema.value != 1 {
        let message = format!("product schema {} is not known", schema.value);
        return Err(schema.at.fault(message).help("this bwmon reads schema 1"));
    }
    Ok(())
}

/// Names are parts of file names and of messages.
fn plain(name: Sourced<String>, what: &str) -> Result<Sourced<String>, Diagnostic> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let text = &name.value;
    if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.chars().all(good) {
        let message = format!("\"{text}\" is not {what}");
        return Err(name.at.fault(message).help("letters, digits, -, _ and ., at most 64"));
    }
    Ok(name)
}

/// Texts that are shown as they are must not change the terminal.
fn shown(text: Sourced<String>) -> Result<Sourced<String>, Diagnostic> {
    if text.value.chars().any(char::is_control) {
        return Err(text.at.fault("a text of one line, without control characters, is needed"));
    }
    Ok(text)
}

fn matching(text: &Text<'_>, item: &Item<'_, '_>) -> Result<Match, Diagnostic> {
    let mut known = MatchKey::ALL.map(MatchKey::name).to_vec();
    known.push("priority");
    let table = Table::new(text, "[match]", item.table()?, &known)?;
    let mut matching = Match::default();
    for key in MatchKey::ALL {
        let Some(item) = table.get(key.name()) else { continue };
        let value = match key {
            MatchKey::Kernel => {
                let range = item.string()?;
                Test::Kernel(KernelRange::parse(&range.value).map_err(|why| {
                    range.at.fault(why).help(
                        "write comparisons with commas between them, such as \">=6.6, <6.20\"; \
                         there are >=, >, <=, < and =",
                    )
                })?)
            }
            _ => {
                let patterns = item.texts(key == MatchKey::SocId)?;
                let glob = |pattern: &Sourced<String>| {
                    Glob::new(&pattern.value).map_err(|why| pattern.at.fault(why))
                };
                Test::AnyOf(patterns.iter().map(glob).collect::<Result<_, _>>()?)
            }
        };
        matching.keys.insert(key, Sourced { value, at: item.at_key() });
    }
    if let Some(item) = table.get("priority") {
        matching.priority = Some(item.number(-1_000..=1_000)?);
    }
    Ok(matching)
}

/// `[policy]`: the default of every domain.
fn policy(text: &Text<'_>, item: &Item<'_, '_>, settings: &mut Settings) -> Result<(), Diagnostic> {
    let table = Table::new(text, "[policy]", item.table()?, &["name", "preset", "params"])?;
    settings.policy = table.get("name").map(|item| item.string()).transpose()?;
    rest(text, &table, settings)
}

/// `[domain.NAME]`.
fn domain(text: &Text<'_>, item: &Item<'_, '_>) -> Result<Settings, Diagnostic> {
    let what = format!("[domain.{}]", item.key);
    let known = ["policy", "preset", "params", "limits"];
    let table = Table::new(text, &what, item.table()?, &known)?;
    let mut settings = Settings {
        policy: table.get("policy").map(|item| item.string()).transpose()?,
        ..Settings::default()
    };
    rest(text, &table, &mut settings)?;
    if let Some(item) = table.get("limits") {
        settings.limits = limits(text, &item)?;
    }
    Ok(settings)
}

fn rest(text: &Text<'_>, table: &Table<'_, '_>, settings: &mut Settings) -> Result<(), Diagnostic> {
    settings.preset = table.get("preset").map(|item| item.string()).transpose()?;
    if let Some(item) = table.get("params") {
        for item in Table::open(text, item.table()?).items() {
            settings.params.insert(item.key.to_owned(), item.tunable()?);
        }
    }
    Ok(())
}

fn limits(text: &Text<'_>, item: &Item<'_, '_>) -> Result<Limits, Diagnostic> {
    let table = Table::new(text, "[limits]", item.table()?, &LimitKey::ALL.map(LimitKey::name))?;
    let mut limits = Limits::default();
    for key in LimitKey::ALL {
        if let Some(item) = table.get(key.name()) {
            limits.0.insert(key, item.number(key.range())?);
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"schema = 1
name = "acme-tablet"
version = "2.3.0"
what = "tablets with a 120 Hz panel"
extends = "qcom-bwmon"
board = "sdm845"
period_us = 8_500

[match]
dt_compatible = ["acme,tab10-rev?", "acme,tab10"]
soc_id = [321, "341"]
kernel = ">=6.6, <6.20"
priority = 1

[policy]
name = "bwmon"
params = { down_windows = 0x20 }

[limits]
min_dwell_ms = 8

[domain.ddr]
policy = "bw_hwmon"
preset = "sdm845-llccbw"
params.zones_MiBps = [1720, 2929]
limits.min_kBps = 1_804_000
"#;

    #[test]
    fn a_whole_file_is_read_with_the_line_of_every_value() {
        let product = parse("acme-tablet.toml", GOOD).unwrap();
        assert_eq!(product.name.value, "acme-tablet");
        assert_eq!(product.extends.unwrap().value, "qcom-bwmon");
        assert_eq!(product.matching.keys.len(), 3);
        assert_eq!(product.settings.params["down_windows"].value, "32");
        let ddr = &product.domains["ddr"];
        assert_eq!(ddr.at.to_string(), "acme-tablet.toml:22");
        assert_eq!(ddr.value.params["zones_MiBps"].value, "[1720, 2929]");
        let limit = &ddr.value.limits.0[&LimitKey::MinKbps];
        assert_eq!(
            (limit.value, limit.at.to_string().as_str()),
            (1_804_000, "acme-tablet.toml:26")
        );
    }

    /// What stands in the file after its first two lines, the line of the fault, what is said.
    const BAD: [(&str, usize, &str); 26] = [
        ("verzion = \"1\"", 3, "did you mean version?"),
        ("[match]\ndt_compatibel = [\"a\"]", 4, "did you mean dt_compatible?"),
        ("[match]\nboard = \"a\"", 4, "it may have dt_compatible"),
        ("[limits]\nmin_kbps = 5", 4, "did you mean min_kBps?"),
        ("[policy]\npolicy = \"bwmon\"", 4, "it may have name, preset, params"),
        ("[domain.ddr]\nlimit = {}", 4, "did you mean limits?"),
        ("period_us = \"8500\"", 3, "is a text, it has to be a whole number"),
        ("period_us = 10", 3, "outside 1000..1000000"),
        ("abstract = 1", 3, "true or false"),
        ("match = 5", 3, "is a whole number, it has to be a table"),
        ("[match]\ndt_compatible = 5", 4, "a list of texts in quotes"),
        ("[match]\ndt_compatible = []", 4, "nothing would fit"),
        ("[match]\ndt_compatible = [\n  \"a\",\n  \"b[0-9]\",\n]", 6, "[ in a pattern"),
        ("[match]\nkernel = \"6.6\"", 4, "is no comparison"),
        ("[match]\nkernel = \">=6.6, 7\"", 4, "\"7\" is no comparison"),
        ("[match]\npriority = 5000", 4, "outside -1000..1000"),
        ("[limits]\nmax_step_down = 0", 4, "outside 1..63"),
        ("[limits]\nmin_level = -1", 4, "outside 0..63"),
        ("[policy]\nparams = { a = \"x\" }", 4, "a is a text"),
        ("[policy]\nparams = { a = [1, 2.5] }", 4, "a list of whole numbers"),
        ("extends = \"../base\"", 3, "is not the name of a product"),
        ("domain = []", 3, "domain is a list"),
        ("name = \"again\"", 3, "duplicate"),
        ("what = \"a\\u001b[31m\"", 3, "control characters"),
        ("version = \"1\\n2\"", 3, "control characters"),
        ("[policy", 3, ""),
    ];

    #[test]
    fn what_is_wrong_is_said_at_its_line() {
        for (rest, line, said) in BAD {
            let text = format!("schema = 1\nname = \"p\"\n{rest}\n");
            let fault = parse("p.toml", &text).unwrap_err();
            let shown = fault.to_string();
            assert!(shown.contains(said), "{rest}: {shown}");
            assert!(shown.contains(&format!("p.toml:{line}:")), "{rest}: {shown}");
        }
    }

    #[test]
    fn a_file_of_another_schema_or_without_a_name_is_refused() {
        for (text, said) in [
            ("", "begins with schema = 1"),
            ("schema = 2\nname = \"p\"", "schema 2 is not known"),
            ("schema = 1", "the product has no name"),
            ("schema = 1\nname = \"a b\"", "\"a b\" is not a product's name"),
            ("schema = 1\nname = \"\"", "is not a product's name"),
        ] {
            let fault = parse("p.toml", text).unwrap_err().to_string();
            assert!(fault.contains(said), "{text}: {fault}");
        }
    }
}
