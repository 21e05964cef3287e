//! The shipped agendas.

/// An agenda that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct ShippedAgenda {
    /// Its name wherever an agenda's file may stand.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedAgenda {
            name: $name,
            text: include_str!(concat!("../../../policies/experiments/", $name, ".toml")),
        }),*]
    };
}

/// All of them, in the order of `experiment list`.
pub const SHIPPED_AGENDAS: &[ShippedAgenda] =
    shipped!["seed-table", "governors", "periods", "regression", "sysbench"];

/// The shipped agenda called `name`.
pub fn shipped_agenda(name: &str) -> Option<&'static ShippedAgenda> {
    SHIPPED_AGENDAS.iter().find(|shipped| shipped.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::parse;

    #[test]
    fn every_shipped_agenda_is_right_and_named_as_its_file() {
        for shipped in SHIPPED_AGENDAS {
            let agenda = parse(shipped.name, shipped.text).unwrap();
            assert_eq!(agenda.name, shipped.name);
            assert!(agenda.subjects.len() >= 2, "{}: nothing is compared", shipped.name);
        }
    }

    #[test]
    fn the_agenda_for_boards_has_the_rows_of_the_seeds_table() {
        let rows = |name| -> Vec<String> {
            let agenda = parse(name, shipped_agenda(name).unwrap().text).unwrap();
            agenda.workloads.into_iter().map(|workload| workload.name).collect()
        };
        assert_eq!(rows("sysbench"), rows("seed-table"));
    }
}
