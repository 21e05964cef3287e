//! How subjects are told apart: a colour and a shape each. The baseline is grey; the colours are
//! Okabe and Ito's, which colour-blind people can tell apart, and the shapes do without colour.

use super::px;
use crate::report::view::View;
use maud::{Markup, html};

/// Colours besides the baseline's grey, and shapes besides its disc: thirty subjects differ.
const COLOURS: usize = 6;
const SHAPES: usize = 5;

/// The place of a subject in the experiment's list.
pub(super) fn place(view: &View<'_>, subject: &str) -> usize {
    view.judged.subjects.iter().position(|name| name == subject).unwrap_or(0)
}

/// The class that colours it.
pub(super) fn class(place: usize) -> String {
    match place.checked_sub(1) {
        None => "s0".to_owned(),
        Some(other) => format!("s{}", other % COLOURS + 1),
    }
}

/// The path of a subject's shape around a point: disc, square, two triangles, diamond, cross.
pub(super) fn shape(place: usize, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corners = corners.iter().map(|(dx, dy)| format!("{} {}", px(x + dx), px(y + dy)));
        format!("M{}Z", corners.collect::<Vec<_>>().join("L"))
    };
    match place.checked_sub(1).map(|other| other % SHAPES + 1) {
        None => format!("M{} {}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z", px(x - 4.5), px(y)),
        Some(1) => polygon(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        Some(2) => polygon(&[(0.0, -5.5), (5.0, 4.0), (-5.0, 4.0)]),
        Some(3) => polygon(&[(0.0, -5.8), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)]),
        Some(4) => polygon(&[(0.0, 5.5), (5.0, -4.0), (-5.0, -4.0)]),
        _ => {
            let (a, b) = (1.8, 5.5);
            polygon(&[
                (-a, -b),
                (a, -b),
                (a, -a),
                (b, -a),
                (b, a),
                (a, a),
                (a, b),
                (-a, b),
                (-a, a),
                (-b, a),
                (-b, -a),
                (-a, -a),
            ])
        }
    }
}

/// Shapes and names of all subjects.
pub(super) fn legend(view: &View<'_>) -> Markup {
    html! {
        p.legend {
            @for (place, name) in view.judged.subjects.iter().enumerate() {
                span {
                    svg class="chart" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" {
                        path class=(format!("shape on {}", class(place))) d=(shape(place, 7.0, 7.0)) {}
                    }
                    " " (name)
                }
                " "
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_baseline_is_grey_and_the_seventh_other_has_the_first_colour_again() {
        assert_eq!([0, 1, 6, 7].map(class), ["s0", "s1", "s6", "s1"]);
    }

    #[test]
    fn thirty_subjects_and_the_baseline_differ_in_colour_or_shape() {
        let looks = (0..31).map(|place| (class(place), shape(place, 0.0, 0.0)));
        assert_eq!(looks.collect::<std::collections::BTreeSet<_>>().len(), 31);
        assert_eq!(shape(1, 10.0, 10.0), "M6 6L14 6L14 14L6 14Z");
    }
}
