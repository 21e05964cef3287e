//! A policy that a client brings: its text travels, so that the agent needs no access to the file.

use crate::policy::canary::Rule;
use crate::policy::script::{MAX_SOURCE, Source, preset};
use crate::policy::{NATIVE, PolicySpec, library, stage};
use serde::{Deserialize, Serialize};

/// A policy and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyUse {
    /// Its file, for messages; or a policy that is built in, `native`, or a chain.
    pub name: String,
    /// The script; none for what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Settings that belong together, from the script's head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Names and values of tunables, over the preset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// In shadow for so many milliseconds first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary_ms: Option<u64>,
    /// What it has to meet then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary_rule: Option<String>,
}

impl PolicyUse {
    /// Whether it makes sense at all.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        if self.name.len() > 4_096 || self.name.chars().any(char::is_control) {
            return Err("policy_use: this is no name".to_owned());
        }
        if self.text.as_ref().is_some_and(|text| text.len() > MAX_SOURCE) {
            return Err(format!("policy_use: a script has at most {MAX_SOURCE} bytes"));
        }
        if self.canary_ms.is_some_and(|ms| !(1..=86_400_000).contains(&ms)) {
            return Err("policy_use: canary_ms is 1 to 86400000".to_owned());
        }
        if self.canary_rule.is_some() && self.canary_ms.is_none() {
            return Err("policy_use: canary_rule goes with canary_ms".to_owned());
        }
        self.canary().map(drop)
    }

    /// Time and rule of the canary, if one is wanted.
    ///
    /// # Errors
    /// What is wrong with the rule.
    pub fn canary(&self) -> Result<Option<(u64, Rule)>, String> {
        let Some(ms) = self.canary_ms else { return Ok(None) };
        let rule = match &self.canary_rule {
            Some(text) => text.parse().map_err(|error| format!("canary_rule: {error}"))?,
            None => Rule::default(),
        };
        Ok(Some((ms, rule)))
    }

    /// The policy, before it is made for a board.
    ///
    /// # Errors
    /// When nothing of that name is built in, or it has no such setting.
    pub fn spec(&self) -> Result<PolicySpec, String> {
        let compiled_in = self.name == NATIVE || self.name.starts_with(stage::PREFIX);
        if self.text.is_none() && compiled_in {
            if self.preset.is_some() || !self.set.is_empty() {
                return Err(format!("{} has no tunables", self.name));
            }
            return Ok(match self.name.as_str() {
                NATIVE => PolicySpec::Native,
                chain => PolicySpec::Chain(chain.to_owned()),
            });
        }
        let text = match (&self.text, library::shipped(&self.name)) {
            (Some(text), _) => text.clone(),
            (None, Some(shipped)) => shipped.text.to_owned(),
            (None, None) => return Err(format!("no policy {} is built in", self.name)),
        };
        let source = Source { name: self.name.clone(), text };
        let mut set = match &self.preset {
            Some(name) => preset(&source, name).map_err(|error| error.to_string())?,
            None => Vec::new(),
        };
        set.extend_from_slice(&self.set);
        Ok(PolicySpec::Script { source, set })
    }
}
