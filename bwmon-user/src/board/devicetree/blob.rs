//! Compiled trees: a `.dtb` file, or `/sys/firmware/fdt`. Format: the device tree specification 0.4,
//! chapter 5, versions 16 and 17.

use super::node::Node;

/// Nodes, and levels of nodes, that a tree may have; Qualcomm's have some 5 000 and 8.
pub const MAX_NODES: usize = 50_000;
/// See [`MAX_NODES`].
pub const MAX_DEPTH: usize = 48;

const MAGIC: u32 = 0xd00d_feed;
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// Why a file is no compiled device tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// It does not begin like one.
    #[error("this is no compiled device tree: it begins with {0:#010x}, not 0xd00dfeed")]
    Magic(u32),
    /// It ends too early.
    #[error("the compiled device tree is cut off: byte {0} is not there")]
    Short(usize),
    /// A later version.
    #[error("the compiled device tree needs a reader of version {0}; this one reads 16 and 17")]
    Version(u32),
    /// Something that has no meaning.
    #[error("the compiled device tree is broken at byte {at}: {what}")]
    Broken {
        /// Offset in the file.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// More than any machine has.
    #[error("the compiled device tree has more than {MAX_NODES} nodes or {MAX_DEPTH} levels")]
    TooLarge,
}

/// Reads the compiled tree `bytes`.
///
/// # Errors
/// Where it is broken.
pub fn parse(bytes: &[u8]) -> Result<Node, BlobError> {
    let header = Reader { bytes, at: 0 };
    let magic = header.at(0).cell()?;
    if magic != MAGIC {
        return Err(BlobError::Magic(magic));
    }
    // Offsets of the header's fields: structure 8, strings 12, last compatible version 24.
    let compatible = header.at(24).cell()?;
    if compatible > 17 {
        return Err(BlobError::Version(compatible));
    }
    let structure = header.at(8).cell()? as usize;
    let strings = header.at(12).cell()? as usize;
    walk(Reader { bytes, at: structure }, strings)
}

fn walk(mut reader: Reader<'_>, strings: usize) -> Result<Node, BlobError> {
    // The nodes that are open, the innermost last; the first is a holder for the root.
    let mut open = vec![Node::default()];
    let mut nodes = 0;
    loop {
        let at = reader.at;
        let broken = |what| BlobError::Broken { at, what };
        match reader.cell()? {
            BEGIN_NODE => {
                nodes += 1;
                if nodes > MAX_NODES || open.len() > MAX_DEPTH {
                    return Err(BlobError::TooLarge);
                }
                let name = reader.text()?.ok_or(broken("a node's name is no text"))?;
                reader.align();
                open.push(Node { name, ..Node::default() });
            }
            END_NODE => {
                let done = open.pop().ok_or(broken("a node ends that never began"))?;
                let above = open.last_mut().ok_or(broken("a node ends that never began"))?;
                above.children.push(done);
            }
            PROPERTY => {
                let (length, name) = (reader.cell()? as usize, reader.cell()? as usize);
                let value = reader.take(length)?.to_vec();
                reader.align();
                let name =
                    Reader { bytes: reader.bytes, at: strings.saturating_add(name) }.text()?;
                let name = name.ok_or(broken("a property's name is no text"))?;
                let outside = open.len() < 2;
                let node = open.last_mut().filter(|_| !outside);
                node.ok_or(broken("a property outside of nodes"))?.properties.insert(name, value);
            }
            NOP => {}
            END => {
                let mut holder = open.into_iter();
                let (root, rest) = (holder.next(), holder.next());
                let roots = root.map_or_else(Vec::new, |holder| holder.children);
                return match (<[Node; 1]>::try_from(roots), rest) {
                    (Ok([root]), None) => Ok(root),
                    _ => Err(broken("it does not end with one whole root")),
                };
            }
            _ => return Err(broken("an unknown token")),
        }
    }
}

/// A place in the bytes.
#[derive(Clone, Copy)]
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn at(self, at: usize) -> Self {
        Self { at, ..self }
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], BlobError> {
        let end = self.at.saturating_add(length);
        let bytes = self.bytes.get(self.at..end).ok_or(BlobError::Short(self.bytes.len()))?;
        self.at = end;
        Ok(bytes)
    }

    fn cell(&mut self) -> Result<u32, BlobError> {
        let short = BlobError::Short(self.bytes.len());
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes(bytes.try_into().map_err(|_| short)?))
    }

    /// A text up to its NUL; `None` if it is no UTF-8.
    fn text(&mut self) -> Result<Option<String>, BlobError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == 0);
        let text = self.take(length.ok_or(BlobError::Short(self.bytes.len()))?)?;
        self.at += 1;
        Ok(std::str::from_utf8(text).ok().map(str::to_owned))
    }

    /// Tokens stand at multiples of four.
    fn align(&mut self) {
        self.at = self.at.next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover;
    use super::super::testing::tree_of;
    use super::*;
    use crate::board::builtin;
    use proptest::prelude::*;

    /// A compiled tree as dtc writes it: header, memory reservations, structure, strings.
    fn compile(root: &Node) -> Vec<u8> {
        fn put(node: &Node, structure: &mut Vec<u8>, strings: &mut Vec<u8>) {
            let pad = |bytes: &mut Vec<u8>| bytes.resize(bytes.len().next_multiple_of(4), 0);
            structure.extend(BEGIN_NODE.to_be_bytes());
            structure.extend(node.name.bytes().chain([0]));
            pad(structure);
            for (name, value) in &node.properties {
                for cell in [PROPERTY, value.len() as u32, strings.len() as u32] {
                    structure.extend(cell.to_be_bytes());
                }
                structure.extend(value);
                pad(structure);
                strings.extend(name.bytes().chain([0]));
            }
            structure.extend(NOP.to_be_bytes());
            for child in &node.children {
                put(child, structure, strings);
            }
            structure.extend(END_NODE.to_be_bytes());
        }
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        put(root, &mut structure, &mut strings);
        structure.extend(END.to_be_bytes());
        let (at, end) = (40 + 16, 40 + 16 + structure.len());
        let total = end + strings.len();
        let header = [MAGIC, total as u32, at, end as u32, 40, 17, 16, 0];
        let sizes = [strings.len() as u32, structure.len() as u32];
        let mut blob: Vec<u8> = header.iter().chain(&sizes).flat_map(|c| c.to_be_bytes()).collect();
        blob.extend([0; 16]);
        blob.extend(structure);
        blob.extend(strings);
        blob
    }

    fn tree() -> Node {
        tree_of(&builtin("sdm845").unwrap().unwrap())
    }

    #[test]
    fn a_compiled_tree_is_read_back_as_it_was() {
        assert_eq!(parse(&compile(&tree())), Ok(tree()));
    }

    #[test]
    fn every_cut_is_a_fault_and_none_a_panic() {
        let blob = compile(&tree());
        for end in (0..blob.len()).step_by(7) {
            assert!(parse(&blob[..end]).is_err(), "cut at {end}");
        }
        assert_eq!(parse(b""), Err(BlobError::Short(0)));
        assert!(matches!(parse(b"schema = 1\n"), Err(BlobError::Magic(_))));
    }

    #[test]
    fn a_tree_that_is_deeper_than_any_machine_is_refused() {
        let mut root = Node::default();
        for _ in 0..60 {
            root = Node { name: "n".into(), children: vec![root], ..Node::default() };
        }
        assert_eq!(parse(&compile(&root)), Err(BlobError::TooLarge));
    }

    proptest! {
        #[test]
        fn changed_bytes_give_a_tree_or_a_fault(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        ) {
            let mut blob = compile(&tree());
            for (at, value) in changes {
                let at = at.index(blob.len());
                blob[at] = value;
            }
            if let Ok(root) = parse(&blob) {
                discover(&root);
            }
        }
    }
}
