//! Names of files in a bundle: relative, plain, and the same on every file system.

/// Bytes of a name; what the plainest form of a tar header holds.
pub const MAX_PATH: usize = 99;
/// Folders, one in another, and the file.
const MAX_DEPTH: usize = 4;

/// Checks `path`, the name of a file in a bundle.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn check(path: &str) -> Result<(), String> {
    let shown: String = path.chars().take(120).map(crate::diag::printable).collect();
    if path.is_empty() {
        return Err("a file without a name".into());
    }
    if path.starts_with('/') {
        return Err(format!("{shown} is an absolute path; a bundle has relative ones only"));
    }
    if path.split('/').any(|part| part == "..") {
        return Err(format!("{shown} leads out of the bundle"));
    }
    if path.len() > MAX_PATH || path.split('/').count() > MAX_DEPTH {
        return Err(format!(
            "{shown} is too long or too deep: at most {MAX_PATH} characters and {} folders",
            MAX_DEPTH - 1
        ));
    }
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // A leading hyphen reads as an option, a leading dot hides.
    let plain = |part: &str| !part.is_empty() && !part.starts_with(['.', '-']);
    if !path.split('/').all(|part| plain(part) && part.chars().all(good)) {
        return Err(format!(
            "{shown} is no plain name: letters, digits, -, _ and . between slashes, none of them \
             beginning with . or -"
        ));
    }
    Ok(())
}

/// The path `name` as it stands in the file `from`: relative to the folder of that file, without
/// `.` and `..`. `None` if it leads out of the bundle.
pub fn beside(from: &str, name: &str) -> Option<String> {
    if name.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The name of the file `path` without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_harm_are_refused_with_what_is_wrong() {
        let long = "a".repeat(100);
        for (path, word) in [
            ("", "without a name"),
            ("/etc/passwd", "absolute"),
            ("../x", "leads out"),
            ("a/../../x", "leads out"),
            ("a//b", "no plain name"),
            ("a/", "no plain name"),
            ("./a", "no plain name"),
            (".hidden", "no plain name"),
            ("-rf", "no plain name"),
            ("a\\b", "no plain name"),
            ("a b", "no plain name"),
            ("a\nb", "no plain name"),
            ("ä", "no plain name"),
            ("a\0b", "no plain name"),
            (&*long, "too long"),
            ("a/b/c/d/e", "too deep"),
        ] {
            let said = check(path).unwrap_err();
            assert!(said.contains(word) && !said.contains('\n'), "{path}: {said}");
        }
        for path in ["a.toml", "policies/a_b-2.spec.toml", "a/b/c/d"] {
            check(path).unwrap();
        }
    }

    #[test]
    fn a_script_is_looked_for_beside_the_file_that_names_it() {
        assert_eq!(beside("a.toml", "x.rhai").as_deref(), Some("x.rhai"));
        assert_eq!(beside("products/a.toml", "./x.rhai").as_deref(), Some("products/x.rhai"));
        assert_eq!(beside("p/a.toml", "../policies/x.rhai").as_deref(), Some("policies/x.rhai"));
        assert_eq!(beside("p/a.toml", "../../x.rhai"), None);
        assert_eq!(beside("a.toml", "/etc/x.rhai"), None);
    }
}
