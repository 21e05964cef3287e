//! A device tree as plain values, and the way around in it: parents, paths, phandles, properties.

use std::collections::BTreeMap;

/// A node, as the machine's tree or a copy of it has it. `live` fills it from a folder or a blob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name with its unit address, such as `pmu@1436400`; empty for the root.
    pub name: String,
    /// Properties by name; values as they stand: big-endian cells, strings that end with a NUL.
    pub properties: BTreeMap<String, Vec<u8>>,
    /// In any order: the kernel's folder has none.
    pub children: Vec<Node>,
}

/// Something in the tree that could not be understood or used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Problem {
    /// Path of the node.
    pub path: String,
    /// What is wrong, and what follows from it.
    pub what: String,
}

/// A node with its place.
#[derive(Debug)]
struct Place<'t> {
    node: &'t Node,
    parent: Option<usize>,
    children: Vec<usize>,
    path: String,
}

/// A tree with its paths and phandles looked up once.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    places: Vec<Place<'t>>,
    phandles: BTreeMap<u32, usize>,
}

impl<'t> Tree<'t> {
    /// The tree under `root`. A phandle that stands twice is reported; the first one counts.
    pub(super) fn new(root: &'t Node, problems: &mut Vec<Problem>) -> Self {
        let mut tree = Self { places: Vec::new(), phandles: BTreeMap::new() };
        // A list of work and no recursion: the depth is whatever somebody wrote down.
        let mut open = vec![(root, None)];
        while let Some((node, parent)) = open.pop() {
            let index = tree.places.len();
            let path = tree.path_of(parent, &node.name);
            if let Some(place) = parent.and_then(|parent| tree.places.get_mut(parent)) {
                place.children.push(index);
            }
            tree.places.push(Place { node, parent, children: Vec::new(), path });
            tree.note_phandle(index, node, problems);
            // The last is taken first, so the children are numbered in the order of their names.
            let mut children: Vec<&Node> = node.children.iter().collect();
            children.sort_by(|a, b| b.name.cmp(&a.name));
            open.extend(children.into_iter().map(|child| (child, Some(index))));
        }
        tree
    }

    fn path_of(&self, parent: Option<usize>, name: &str) -> String {
        match parent.and_then(|parent| self.places.get(parent)) {
            None => "/".to_owned(),
            Some(parent) if parent.path == "/" => format!("/{name}"),
            Some(parent) => format!("{}/{name}", parent.path),
        }
    }

    fn note_phandle(&mut self, index: usize, node: &Node, problems: &mut Vec<Problem>) {
        let own = ["phandle", "linux,phandle"].iter().find_map(|name| node.properties.get(*name));
        let Some(Ok(own)) = own.map(|bytes| <[u8; 4]>::try_from(bytes.as_slice())) else { return };
        let own = u32::from_be_bytes(own);
        let path = |index: usize| self.places.get(index).map_or("", |place| place.path.as_str());
        if let Some(first) = self.phandles.get(&own) {
            let what = format!("phandle {own:#x} is also that of {}, which counts", path(*first));
            problems.push(Problem { path: path(index).to_owned(), what });
            return;
        }
        self.phandles.insert(own, index);
    }

    fn at(&self, index: usize) -> Option<At<'_>> {
        self.places.get(index).map(|place| At { tree: self, place })
    }

    /// All nodes, the root first, each before its children.
    pub(super) fn all(&self) -> impl Iterator<Item = At<'_>> {
        self.places.iter().map(|place| At { tree: self, place })
    }

    /// The root.
    pub(super) fn root(&self) -> Option<At<'_>> {
        self.at(0)
    }
}

/// A node together with the tree around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'t> {
    tree: &'t Tree<'t>,
    place: &'t Place<'t>,
}

impl<'t> At<'t> {
    /// Its name.
    pub(super) fn name(self) -> &'t str {
        &self.place.node.name
    }

    /// Its path from the root.
    pub(super) fn path(self) -> &'t str {
        &self.place.path
    }

    /// The node above.
    pub(super) fn parent(self) -> Option<At<'t>> {
        self.tree.at(self.place.parent?)
    }

    /// It and all nodes above it, up to the root.
    pub(super) fn upwards(self) -> impl Iterator<Item = At<'t>> {
        std::iter::successors(Some(self), |at| at.parent())
    }

    /// The nodes below, in the order of their names.
    pub(super) fn children(self) -> impl Iterator<Item = At<'t>> {
        self.place.children.iter().filter_map(move |index| self.tree.at(*index))
    }

    /// The child called `name`.
    pub(super) fn child(self, name: &str) -> Option<At<'t>> {
        self.children().find(|child| child.name() == name)
    }

    /// Whether the property is there.
    pub(super) fn has(self, property: &str) -> bool {
        self.place.node.properties.contains_key(property)
    }

    /// The names of its properties.
    pub(super) fn property_names(self) -> impl Iterator<Item = &'t str> {
        self.place.node.properties.keys().map(String::as_str)
    }

    /// The property's bytes.
    fn bytes(self, property: &str) -> Option<&'t [u8]> {
        self.place.node.properties.get(property).map(Vec::as_slice)
    }

    /// The property as cells of 32 bits; `None` if it is not there.
    pub(super) fn cells(self, property: &str) -> Result<Option<Vec<u32>>, String> {
        let Some(bytes) = self.bytes(property) else { return Ok(None) };
        let (cells, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(format!(
                "{property} has {} bytes, which is no whole number of cells",
                bytes.len()
            ));
        }
        Ok(Some(cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect()))
    }

    /// The property as one cell; `None` if it is not there.
    pub(super) fn cell(self, property: &str) -> Result<Option<u32>, String> {
        match self.cells(property)?.as_deref() {
            None => Ok(None),
            Some([cell]) => Ok(Some(*cell)),
            Some(cells) => Err(format!("{property} has {} cells, not one", cells.len())),
        }
    }

    /// The property as a list of strings; empty if it is not there.
    pub(super) fn strings(self, property: &str) -> Result<Vec<String>, String> {
        let Some(bytes) = self.bytes(property) else { return Ok(Vec::new()) };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            format!("{property} is no UTF-8 text from byte {}", error.valid_up_to())
        })?;
        let strings = text.split('\0').filter(|part| !part.is_empty());
        let strings: Vec<String> = strings.map(str::to_owned).collect();
        if strings.iter().any(|text| text.contains(char::is_control)) {
            return Err(format!("{property} holds control characters"));
        }
        Ok(strings)
    }

    /// Whether the kernel makes a device of it: `status` is absent or says so.
    pub(super) fn enabled(self) -> bool {
        match self.bytes("status") {
            None => true,
            Some(bytes) => matches!(bytes, b"okay\0" | b"ok\0"),
        }
    }

    /// The node with `phandle`.
    pub(super) fn follow(self, phandle: u32) -> Result<At<'t>, String> {
        let found = self.tree.phandles.get(&phandle).and_then(|index| self.tree.at(*index));
        found.ok_or_else(|| format!("there is no node with phandle {phandle:#x}"))
    }

    /// The root of its tree.
    pub(super) fn root(self) -> Option<At<'t>> {
        self.tree.root()
    }

    /// `what`, said of this node.
    pub(super) fn problem(self, what: impl Into<String>) -> Problem {
        Problem { path: self.path().to_owned(), what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, children: Vec<Node>) -> Node {
        Node { name: name.into(), children, ..Node::default() }
    }

    fn with(mut node: Node, property: &str, value: &[u8]) -> Node {
        node.properties.insert(property.into(), value.into());
        node
    }

    #[test]
    fn nodes_come_in_the_order_of_their_names_with_their_paths() {
        let root = node("", vec![node("soc@0", vec![node("b", vec![]), node("a", vec![])])]);
        let tree = Tree::new(&root, &mut Vec::new());
        let paths: Vec<&str> = tree.all().map(At::path).collect();
        assert_eq!(paths, ["/", "/soc@0", "/soc@0/a", "/soc@0/b"]);
        let up: Vec<&str> = tree.all().last().unwrap().upwards().map(At::path).collect();
        assert_eq!(up, ["/soc@0/b", "/soc@0", "/"]);
    }

    #[test]
    fn a_phandle_that_stands_twice_is_reported_and_the_first_counts() {
        let twice = |name| with(node(name, vec![]), "phandle", &[0, 0, 0, 7]);
        let root = node("", vec![twice("a"), twice("b")]);
        let mut problems = Vec::new();
        let tree = Tree::new(&root, &mut problems);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "/b");
        assert_eq!(tree.root().unwrap().follow(7).unwrap().path(), "/a");
        assert_eq!(
            tree.root().unwrap().follow(9).unwrap_err(),
            "there is no node with phandle 0x9"
        );
    }

    #[test]
    fn cells_are_big_endian_and_whole() {
        let root = with(node("", vec![]), "x", &[0x01, 0x43, 0x64, 0x00, 0, 0]);
        let tree = Tree::new(&root, &mut Vec::new());
        assert!(tree.root().unwrap().cells("x").unwrap_err().contains("6 bytes"));
        let root = with(node("", vec![]), "x", &[0x01, 0x43, 0x64, 0x00]);
        let tree = Tree::new(&root, &mut Vec::new());
        assert_eq!(tree.root().unwrap().cell("x"), Ok(Some(0x0143_6400)));
        assert_eq!(tree.root().unwrap().cell("y"), Ok(None));
    }

    #[test]
    fn strings_leave_out_empty_ones_and_refuse_what_is_no_text() {
        let strings = |bytes: &[u8]| {
            let root = with(node("", vec![]), "x", bytes);
            Tree::new(&root, &mut Vec::new()).root().unwrap().strings("x")
        };
        assert_eq!(strings(b"a\0\0b\0"), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(strings(b""), Ok(vec![]));
        assert_eq!(strings(b"a\0\xff\0"), Err("x is no UTF-8 text from byte 2".to_owned()));
        assert!(strings(b"a\x1b[2J\0").is_err());
    }

    #[test]
    fn a_deep_tree_is_walked_without_recursion() {
        let mut root = node("deep", vec![]);
        for _ in 0..2_000 {
            root = node("n", vec![root]);
        }
        assert_eq!(Tree::new(&root, &mut Vec::new()).all().count(), 2_001);
    }
}
