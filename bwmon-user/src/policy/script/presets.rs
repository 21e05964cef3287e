//! Presets: `// @preset name: tunable=value …` in the head of a script, settings that belong
//! together.

use super::error::Source;
use super::params::{self, Param};
use crate::diag::{Diagnostic, Place, did_you_mean};

/// Settings that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name, for `--preset`.
    pub name: String,
    /// Tunables and their values as written.
    pub set: Vec<(String, String)>,
}

/// The presets that the script declares; every value fits its tunable.
///
/// # Errors
/// A line that is not understood, a name that stands twice, or a value that does not fit.
pub(super) fn declared(source: &Source, params: &[Param]) -> Result<Vec<Preset>, Diagnostic> {
    let mut presets: Vec<Preset> = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("//") else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("@preset") else { continue };
        let at = |fault: Diagnostic| fault.at(Place::at(&source.text, number + 1, 1));
        let preset = parse(rest).ok_or_else(|| {
            at(source.fault("this @preset line is not understood"))
                .help("write: // @preset name: tunable=value other=1,2,3")
        })?;
        if presets.iter().any(|other| other.name == preset.name) {
            return Err(at(source.fault(format!("a second @preset is called {}", preset.name))));
        }
        params::values(source, params, &preset.set).map_err(at)?;
        presets.push(preset);
    }
    Ok(presets)
}

fn parse(text: &str) -> Option<Preset> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    let pair = |word: &str| word.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
    let set: Option<Vec<_>> = rest.split_whitespace().map(pair).collect();
    Some(Preset { name: name.to_owned(), set: set.filter(|set| !set.is_empty())? })
}

/// The settings of the preset `name` of `source`, to be put before `--set`.
///
/// # Errors
/// When the script has no such preset, or its head is wrong.
pub fn preset(source: &Source, name: &str) -> Result<Vec<(String, String)>, Diagnostic> {
    find(source, &declared(source, &params::declared(source)?)?, name)
}

/// The settings of the one of `presets` that is called `name`.
pub(super) fn find(
    source: &Source,
    presets: &[Preset],
    name: &str,
) -> Result<Vec<(String, String)>, Diagnostic> {
    if let Some(preset) = presets.iter().find(|preset| preset.name == name) {
        return Ok(preset.set.clone());
    }
    let names = || presets.iter().map(|preset| preset.name.as_str());
    let fault = source.fault(format!("the policy has no preset called {name}"));
    Err(match did_you_mean(name, names()) {
        Some(near) => fault.help(format!("did you mean {near}?")),
        None if presets.is_empty() => fault.help("it has no presets; use --set NAME=VALUE"),
        None => fault.help(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(preset: &str) -> Source {
        let text = format!(
            "// @param a = 1 (0..9) x\n// @param z = [] (0..9) y\n{preset}\nfn decide(obs) {{ hold() }}"
        );
        Source { name: "p.rhai".into(), text }
    }

    #[test]
    fn a_preset_gives_its_settings_in_order() {
        let source = source("// @preset soc-cpu: a=4 z=1,2");
        let set = preset(&source, "soc-cpu").unwrap();
        assert_eq!(set, [("a".into(), "4".into()), ("z".into(), "1,2".into())]);
        let fault = preset(&source, "soc-cpus").unwrap_err();
        assert_eq!(fault.help.as_deref(), Some("did you mean soc-cpu?"));
    }

    #[test]
    fn a_preset_that_does_not_fit_is_an_error_at_its_line() {
        for (line, said) in [
            ("// @preset", "not understood"),
            ("// @preset x y: a=1", "not understood"),
            ("// @preset x:", "not understood"),
            ("// @preset x: a", "not understood"),
            ("// @preset x: b=1", "no tunable called b"),
            ("// @preset x: a=10", "outside 0..9"),
            ("// @preset x: a=1\n// @preset x: a=2", "a second @preset"),
        ] {
            let fault = preset(&source(line), "x").unwrap_err();
            assert!(fault.message.contains(said), "{line}: {fault}");
            assert!(fault.place.is_some_and(|place| place.line >= 3), "{line}");
        }
    }
}
