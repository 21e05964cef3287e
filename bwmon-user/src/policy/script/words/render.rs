//! The words as tables, as definitions for editors, and inside of documents.

use super::{ALWAYS, FUNCTIONS, Group, PROPERTIES, Type, Word};

/// The group as a table of Markdown.
pub fn markdown(group: Group) -> String {
    let mut text = String::new();
    if group == Group::Reading {
        text.push_str("| reading | type | meaning | known |\n|---|---|---|---|\n");
    } else {
        text.push_str("| written | gives | meaning |\n|---|---|---|\n");
    }
    for word in group.words() {
        let Word { form, what, known, .. } = word;
        let gives = word.gives.name();
        text.push_str(&match group {
            Group::Reading => format!("| `{form}` | {gives} | {what} | {known} |\n"),
            Group::Refinement => format!("| `.{form}` | {gives} | {what} |\n"),
            _ => format!("| `{form}` | {gives} | {what} |\n"),
        });
    }
    text
}

/// All words as a Rhai definition file, for editors.
pub fn definitions() -> String {
    let mut text = String::from("module static;\n");
    for word in PROPERTIES.iter().chain(FUNCTIONS) {
        let object = match word.group {
            Group::Reading | Group::Asking => Some(("obs", Type::Observation)),
            Group::Refinement => Some(("proposal", Type::Proposal)),
            _ => None,
        };
        let arguments: Vec<String> = object
            .iter()
            .chain(word.arguments)
            .map(|(name, kind)| format!("{name}: {}", kind.name()))
            .collect();
        let known = match word.known {
            "" | ALWAYS => String::new(),
            known => format!(" Known {known}."),
        };
        let get = if word.group == Group::Reading { "get " } else { "" };
        text.push_str(&format!(
            "\n/// {}.{known}\nfn {get}{}({}) -> {};\n",
            word.what,
            word.name,
            arguments.join(", "),
            word.gives.name()
        ));
        if word.group == Group::Proposal {
            let reason = arguments.iter().cloned().chain(["why: String".to_owned()]);
            text.push_str(&format!(
                "\n/// {}, with the reason.\nfn {}({}) -> Proposal;\n",
                word.what,
                word.name,
                reason.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    text
}

/// `text` with every section between `<!-- words: GROUP -->` and `<!-- end of words -->` made anew.
///
/// # Errors
/// The mark that names no group or has no end.
pub fn refreshed(text: &str) -> Result<String, String> {
    const BEGIN: &str = "<!-- words: ";
    const END: &str = "<!-- end of words -->";
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->").ok_or("a mark without its end")?;
        let group = Group::ALL.into_iter().find(|group| group.name() == name);
        let group = group.ok_or_else(|| format!("there is no group of words called {name}"))?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("{name} has no end mark"))?;
        out.push_str(&format!("{before}{BEGIN}{name} -->\n{}{END}", markdown(group)));
        rest = after;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_stands_once_and_in_the_definitions() {
        let names: Vec<&str> = PROPERTIES.iter().chain(FUNCTIONS).map(|word| word.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let definitions = definitions();
        for name in names {
            assert!(definitions.contains(&format!(" {name}(")), "{name}");
        }
        assert!(definitions.contains("fn get peak_kBps(obs: Observation) -> int;"));
        assert!(definitions.contains("fn demand_kBps(n: int, why: String) -> Proposal;"));
    }

    #[test]
    fn a_form_has_the_arguments_that_are_listed() {
        for word in FUNCTIONS {
            let inner = word.form.split_once('(').unwrap().1.strip_suffix(')').unwrap();
            let written: Vec<&str> =
                inner.split(", ").filter(|a| !a.is_empty()).map(|a| a.trim_matches('"')).collect();
            let listed: Vec<&str> = word.arguments.iter().map(|(name, _)| *name).collect();
            assert_eq!(written, listed, "{}", word.form);
        }
    }

    #[test]
    fn a_text_is_refreshed_between_its_marks_only() {
        let text = "a\n<!-- words: numbers -->\nold\n<!-- end of words -->\nb";
        let new = refreshed(text).unwrap();
        assert!(new.starts_with("a\n<!-- words: numbers -->\n| written |") && new.ends_with("\nb"));
        assert!(!new.contains("old"));
        assert_eq!(refreshed(&new).unwrap(), new);
        assert!(refreshed("<!-- words: nmbers -->").unwrap_err().contains("nmbers"));
        assert!(refreshed("<!-- words: numbers -->").unwrap_err().contains("no end"));
    }
}
