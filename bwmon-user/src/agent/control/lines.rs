//! Lines from a client, bounded in length.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are read at once.
const PIECE: usize = 4 * 1024;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// A line, without its end.
    Line(Vec<u8>),
    /// More than a line may have.
    TooLong,
    /// The client has gone, or says nothing more.
    End,
}

/// Reads lines of at most `most` bytes.
pub(super) struct Lines<R> {
    from: R,
    most: usize,
    have: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, most: usize) -> Self {
        Self { from, most, have: Vec::new() }
    }

    /// The next line. Nothing is lost when this is dropped while it waits.
    pub(super) async fn next(&mut self) -> Came {
        loop {
            if let Some(end) = self.have.iter().position(|byte| *byte == b'\n') {
                let rest = self.have.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.have, rest);
                line.pop();
                return if line.len() > self.most { Came::TooLong } else { Came::Line(line) };
            }
            if self.have.len() > self.most {
                return Came::TooLong;
            }
            self.have.reserve(PIECE);
            match self.from.read_buf(&mut self.have).await {
                Ok(0) | Err(_) => return Came::End,
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(bytes: &[u8], most: usize) -> Vec<Came> {
        let mut lines = Lines::new(bytes, most);
        let mut came = Vec::new();
        loop {
            let next = lines.next().await;
            let over = next != Came::TooLong && !matches!(next, Came::Line(_));
            let stop = over || next == Came::TooLong;
            came.push(next);
            if stop {
                return came;
            }
        }
    }

    #[test]
    fn lines_come_one_by_one_and_a_long_one_ends_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let line = |text: &str| Came::Line(text.as_bytes().to_vec());
        let came = runtime.block_on(all(b"ab\n\ncd", 4));
        // What has no end is no line.
        assert_eq!(came, [line("ab"), line(""), Came::End]);
        assert_eq!(runtime.block_on(all(b"ab\nabcde\n", 4)), [line("ab"), Came::TooLong]);
        assert_eq!(runtime.block_on(all(&[b'x'; 20_000], 4)), [Came::TooLong]);
        // As long as allowed.
        assert_eq!(runtime.block_on(all(b"abcd\n", 4)), [line("abcd"), Came::End]);
    }
}
