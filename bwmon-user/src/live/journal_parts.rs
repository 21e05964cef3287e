//! A journal of several files as one: FILE, with the older parts of the same run beside it.

use super::agent_journal::older;
use crate::journal::Continues;
use crate::policy::script::digest;
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// Bytes of a header that are looked at.
const HEADER: u64 = 4 * 1024 * 1024;

/// Parts of one run that are put together at most.
const PARTS: u64 = 10_000;

/// Opens the journal `name`, with the older parts of its run that are beside it, oldest first. Answers
/// how many files it is made of.
///
/// # Errors
/// When a file cannot be read.
pub fn open_journal(name: &str) -> anyhow::Result<(Box<dyn BufRead>, u64)> {
    let open = |path: &std::path::Path| {
        File::open(path).with_context(|| format!("cannot open the journal {}", path.display()))
    };
    let newest = open(name.as_ref())?;
    // A pipe cannot be looked at and read again, and has nothing beside it.
    if !newest.metadata()?.is_file() {
        return Ok((Box::new(BufReader::new(newest)), 1));
    }
    let mut parts = vec![BufReader::new(newest)];
    let mut after = first_line(&mut BufReader::new(open(name.as_ref())?))?.1;
    for number in 1..PARTS {
        let Some(later) = after.take() else { break };
        let path = older(name, number);
        if !path.exists() {
            break;
        }
        let mut file = BufReader::new(open(&path)?);
        let (line, continues) = first_line(&mut file)?;
        let fits = match &continues {
            Some(part) => part.part + 1 == later.part && part.of == later.of,
            None => later.part == 1 && digest(line.trim_end()) == later.of,
        };
        if !fits {
            break;
        }
        parts.push(BufReader::new(open(&path)?));
        after = continues;
    }
    let count = parts.len() as u64;
    let mut whole: Option<Box<dyn BufRead>> = None;
    while let Some(mut part) = parts.pop() {
        whole = Some(match whole {
            None => Box::new(part),
            Some(before) => {
                // Its header says again what the parts before it say.
                first_line(&mut part)?;
                Box::new(before.chain(part))
            }
        });
    }
    Ok((whole.unwrap_or_else(|| Box::new(io::empty())), count))
}

/// The first line, and what it says of an earlier part. One that is no header says nothing.
fn first_line(file: &mut BufReader<File>) -> io::Result<(String, Option<Continues>)> {
    #[derive(serde::Deserialize)]
    struct Begin {
        continues: Option<Continues>,
    }
    let mut bytes = Vec::new();
    file.by_ref().take(HEADER).read_until(b'\n', &mut bytes)?;
    let line = String::from_utf8_lossy(&bytes).into_owned();
    let begin: Option<Begin> = serde_json::from_str(&line).ok();
    Ok((line, begin.and_then(|begin| begin.continues)))
}
