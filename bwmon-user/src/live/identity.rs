//! Which board this machine is, and why.

use super::devicetree::{TreeError, machine_tree};
use super::machine::Machine;
use super::root::{Root, read_line};
use crate::board::devicetree::{Discovery, discover};
use crate::board::fitted::{self, Mark};
use crate::board::{Board, Difference, builtin, builtin_ids, merge};
use crate::units::Hz;

/// SMEM's list of memory clocks in Hz, one a line.
const MEMORY_CLOCKS: &str = "/sys/kernel/debug/qcom_smem/dram_frequencies";

/// The board of a machine.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The board to use; `None` if the machine is none that bwmon can work with.
    pub board: Option<Board>,
    /// Why this one, or why none, in a sentence without a full stop.
    pub why: String,
    /// Id of the built-in board that fits.
    pub file: Option<String>,
    /// What the machine's device tree says, if it has one.
    pub discovery: Option<Discovery>,
    /// What tree and file have differently.
    pub differences: Vec<Difference>,
    /// Levels that the machine does not really have.
    pub marks: Vec<Mark>,
}

impl Machine {
    /// The board of this machine: its device tree, and the built-in board file that fits it.
    pub fn identify(&self) -> Identity {
        let mut identity = match machine_tree(self.root()) {
            Ok(tree) => Identity::of(tree.as_ref().map(discover)),
            Err(error) => self.without_tree(&error),
        };
        identity.mark(self.root());
        identity
    }

    /// A tree that cannot be read whole may still say what machine this is.
    fn without_tree(&self, error: &TreeError) -> Identity {
        let file = file_for(&self.compatible());
        let why = match &file {
            Some(board) => format!("the built-in board {}, since {error}", board.id),
            None => error.to_string(),
        };
        Identity {
            file: file.as_ref().map(|board| board.id.clone()),
            board: file,
            why,
            discovery: None,
            differences: Vec::new(),
            marks: Vec::new(),
        }
    }
}

/// The built-in board whose `compatible` comes first among `names`.
fn file_for(names: &[String]) -> Option<Board> {
    let boards: Vec<Board> = builtin_ids().filter_map(builtin).filter_map(Result::ok).collect();
    let mut names = names.iter();
    names.find_map(|name| boards.iter().find(|board| board.compatible.contains(name)).cloned())
}

impl Identity {
    /// The board of a machine whose device tree says `discovery`.
    pub fn of(discovery: Option<Discovery>) -> Self {
        let names = discovery.as_ref().map_or(&[] as &[String], |found| &found.compatible);
        let file = file_for(names);
        let listed = names.join(", ");
        let mut differences = Vec::new();
        let (board, why) = match (discovery.as_ref().and_then(|d| d.board.as_ref()), &file) {
            (Some(tree), Some(file)) => {
                let merged = merge(tree, file);
                differences = merged.differences;
                let agree = match differences.len() {
                    0 => "which agree".to_owned(),
                    1 => "which differ in one point (`bwmon boards probe`)".to_owned(),
                    n => format!("which differ in {n} points (`bwmon boards probe`)"),
                };
                let why = format!(
                    "the device tree ({listed}) and the built-in board {}, {agree}",
                    file.id
                );
                (Some(merged.board), why)
            }
            (Some(tree), None) => {
                let why = format!(
                    "the device tree; no built-in board is for {listed}, so names are \
                     made from the tree and count units are the driver's"
                );
                (Some(tree.clone()), why)
            }
            (None, Some(file)) => {
                let why = format!(
                    "the built-in board {} for {listed}; the device tree has no monitor that could \
                     be used",
                    file.id
                );
                (Some(file.clone()), why)
            }
            (None, None) if discovery.is_none() => (None, "this machine has no device tree".into()),
            (None, None) => {
                let why = format!(
                    "the device tree ({listed}) has no BWMON node that could be used, and no built-in \
                     board is for this machine"
                );
                (None, why)
            }
        };
        let mut identity = Self {
            board,
            why,
            file: file.map(|board| board.id),
            discovery,
            differences,
            marks: Vec::new(),
        };
        if let (Some(board), Some(found)) = (&identity.board, &identity.discovery) {
            identity.marks = fitted::by_hardware(board, &found.blocks);
        }
        identity
    }

    /// Marks levels by what the machine under `root` has.
    fn mark(&mut self, root: &Root) {
        let Some(board) = &self.board else { return };
        if let Some(clocks) = memory_clocks(root) {
            self.marks.extend(fitted::by_memory(board, &clocks));
        }
        let offered = |device: &str| {
            let path = format!("/sys/class/devfreq/{device}/available_frequencies");
            read_line(&root.path(&path)).ok().map(|text| numbers(&text))
        };
        self.marks.extend(fitted::by_devfreq(board, offered));
    }
}

/// The fitted memory's clocks, if the kernel says.
pub(super) fn memory_clocks(root: &Root) -> Option<Vec<Hz>> {
    let clocks = numbers(&read_line(&root.path(MEMORY_CLOCKS)).ok()?);
    (!clocks.is_empty()).then_some(clocks)
}

fn numbers(text: &str) -> Vec<Hz> {
    text.split_whitespace().flat_map(str::parse).map(Hz).collect()
}

#[cfg(test)]
mod tests {
    use super::super::devicetree::tests::write;
    use super::*;
    use crate::board::devicetree::testing::{strings, tree_of};
    use crate::board::fitted::Lack;

    fn machine(change: impl FnOnce(&Root)) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let mut board = builtin("sdm845").unwrap().unwrap();
        board.domains.retain(|domain| domain.monitor.is_some());
        write(&root.path("/sys/firmware/devicetree/base"), &tree_of(&board));
        change(&root);
        (folder, Machine::new(root))
    }

    fn put(root: &Root, path: &str, text: &str) {
        let path = root.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn tree_and_file_together_are_the_board_and_it_is_said_why() {
        let (_folder, machine) = machine(|_| {});
        let identity = machine.identify();
        let board = identity.board.unwrap();
        assert_eq!((board.id.as_str(), board.domains.len()), ("sdm845", 3));
        assert_eq!(
            identity.why,
            "the device tree (acme,device, qcom,sdm845) and the built-in board sdm845, \
             which agree"
        );
        assert_eq!((identity.differences.len(), identity.marks.len()), (0, 0));
    }

    #[test]
    fn a_tree_that_no_file_fits_is_a_board_of_its_own() {
        let mut board = builtin("sdm845").unwrap().unwrap();
        board.domains.retain(|domain| domain.monitor.is_some());
        let root = strings(tree_of(&board), "compatible", &["acme,new-phone", "acme,soc9"]);
        let identity = Identity::of(Some(discover(&root)));
        assert_eq!(identity.board.unwrap().id, "soc9");
        assert!(identity.why.contains("no built-in board is for acme,new-phone, acme,soc9"));
    }

    #[test]
    fn a_tree_without_monitors_leaves_the_file_and_says_so() {
        let (_folder, machine) = machine(|root| {
            std::fs::remove_dir_all(root.path("/sys/firmware/devicetree/base/soc@0")).unwrap();
        });
        let identity = machine.identify();
        assert_eq!(identity.board.unwrap().id, "sdm845");
        assert!(identity.why.contains("no monitor that could be used"), "{}", identity.why);
    }

    #[test]
    fn without_a_tree_there_is_no_board() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Machine::new(Root::at(folder.path())).identify();
        assert!(identity.board.is_none());
        assert_eq!(identity.why, "this machine has no device tree");
    }

    #[test]
    fn the_fitted_memorys_clocks_mark_levels() {
        let (_folder, machine) = machine(|root| {
            // Up to 1353 MHz: 7216000 kBps are out of reach.
            put(root, MEMORY_CLOCKS, "200000000\n451000000\n768000000\n1353000000\n");
        });
        let marks = machine.identify().marks;
        assert_eq!(marks.len(), 1);
        assert_eq!((marks[0].domain.as_str(), marks[0].what), ("ddr", Lack::AboveTheTop));
    }
}
