//! The boards in the binary.

use super::{Board, parse};
use crate::diag::Diagnostic;

macro_rules! boards {
    ($($id:literal),* $(,)?) => {
        const TEXTS: &[(&str, &str)] = &[
            $(($id, include_str!(concat!("../../boards/", $id, ".toml")))),*
        ];
    };
}

boards![
    "glymur",
    "kaanapali",
    "qcm2290",
    "qcs615",
    "qcs8300",
    "sa8775p",
    "sc7180",
    "sc7280",
    "sc8280xp",
    "sdm845",
    "sdm845-seed",
    "sm6115",
    "sm6350",
    "sm8250",
    "sm8550",
    "sm8650",
    "sm8750",
    "x1e80100",
];

/// Ids of the built-in boards, in order.
pub fn builtin_ids() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(id, _)| *id)
}

/// The board file of the built-in board `id`.
pub fn builtin_text(id: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == id).map(|(_, text)| *text)
}

/// The built-in board `id`, or `None` if there is none of that name.
///
/// # Errors
/// Never for the boards that ship (a test parses them all).
pub fn builtin(id: &str) -> Option<Result<Board, Diagnostic>> {
    builtin_text(id).map(|text| parse(&format!("<built-in {id}.toml>"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Kbps;

    #[test]
    fn every_built_in_board_parses_and_is_named_as_its_file() {
        for id in builtin_ids() {
            let board = builtin(id).unwrap().unwrap();
            assert_eq!(board.id, id);
        }
    }

    #[test]
    fn there_are_37_monitors_on_17_socs_besides_the_seed() {
        let boards: Vec<Board> = builtin_ids()
            .filter(|id| *id != "sdm845-seed")
            .map(|id| builtin(id).unwrap().unwrap())
            .collect();
        let monitors: usize = boards.iter().map(|board| board.monitors.len()).sum();
        assert_eq!((boards.len(), monitors), (17, 37));
    }

    #[test]
    fn the_seed_board_compares_with_the_ddr_column_of_eight_rows() {
        let board = builtin("sdm845-seed").unwrap().unwrap();
        let table = &board.domains[0].table;
        assert_eq!((table.len(), table.columns().len()), (8, 2));
        assert_eq!(table.row(table.top()), [Kbps(7_216_000), Kbps(25_497_600)]);
        assert_eq!(table.kbps_of(table.top()), Kbps(7_216_000));
    }
}
