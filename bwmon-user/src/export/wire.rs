//! Protocol Buffers on the wire: varints and length-delimited fields, which is all that a trace needs
//! (protobuf.dev, "Encoding").

/// A message being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// The wire types that are used.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;

impl Message {
    /// A number in `field`.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Text in `field`.
    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// A message in `field`.
    pub(super) fn message(self, field: u32, inner: Self) -> Self {
        self.bytes(field, &inner.0)
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// What was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_text_are_written_as_the_encoding_guide_shows() {
        // The guide's examples: field 1 = 150 is 08 96 01, field 2 = "testing" is 12 07 74 …
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing").into_bytes();
        assert_eq!(text, [&[0x12, 0x07][..], b"testing"].concat());
        // Field 3 with the first message is 1a 03 08 96 01.
        let inner = Message::default().number(1, 150);
        let outer = Message::default().message(3, inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().number(1, u64::MAX).into_bytes().len(), 1 + 10);
    }
}
