//! Performance against what was voted for it: one small chart for each workload.

use super::scale::Scale;
use super::{distributions::short, px, subjects};
use crate::experiment::{Better, MeasureInfo};
use crate::report::number::with_unit;
use crate::report::view::View;
use maud::{Markup, html};
use std::fmt::Write;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 24.0;
const FLOOR: f64 = HEIGHT - 40.0;
/// Width of a character of small text, and height of a line.
const CHARACTER: f64 = 6.8;
const LINE: f64 = 13.0;
/// Characters of a name that are shown.
const NAME: usize = 18;

/// A subject's medians and quartiles by both measures.
struct Point<'a> {
    subject: &'a str,
    place: usize,
    x: [f64; 3],
    y: [f64; 3],
}

/// The charts, or why there are none.
pub(super) fn section(view: &View<'_>) -> Markup {
    let title = html! { h2 { "Performance against votes" } };
    let Some((cost, gain)) = pair(view) else {
        return html! {
            (title)
            p.detail {
                "Not drawn: it takes a primary measure of which more is better and a measure of "
                "which less is better."
            }
        };
    };
    html! {
        (title)
        p.detail {
            "Up: " (gain.name) ", more is better. Right: " (cost.name) ", less is better. Points are "
            "medians, thin lines reach from quartile to quartile. Filled points are on the Pareto "
            "front, the dashed line: no other subject is at least as good in both and better in one."
        }
        (subjects::legend(view))
        div.grid {
            @for workload in &view.judged.workloads { (figure(view, cost, gain, workload)) }
        }
    }
}

/// The measure to the right and the one upwards.
fn pair<'a>(view: &View<'a>) -> Option<(&'a MeasureInfo, &'a MeasureInfo)> {
    let measures = &view.judged.measures;
    let gain = measures.iter().find(|m| m.primary && m.better == Better::Higher)?;
    let lower = || measures.iter().filter(|m| m.better == Better::Lower);
    let votes = lower().find(|measure| measure.name.contains("vote_integral"));
    Some((votes.or_else(|| lower().next())?, gain))
}

fn figure(view: &View<'_>, cost: &MeasureInfo, gain: &MeasureInfo, workload: &str) -> Markup {
    let points = points(view, cost, gain, workload);
    if points.is_empty() {
        return html! { figure { figcaption { (workload) } p.detail { "nothing known" } } };
    }
    let scale = |measure: &MeasureInfo, of: fn(&Point<'_>) -> [f64; 3], most| {
        Scale::over(points.iter().flat_map(of), &measure.unit, most)
    };
    let (right, up) = (scale(cost, |p| p.x, 4.0), scale(gain, |p| p.y, 5.0));
    let x = |value: f64| LEFT + right.share(value) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| FLOOR - up.share(value) * (FLOOR - TOP);
    let medians: Vec<(f64, f64)> = points.iter().map(|p| (median(p.x), median(p.y))).collect();
    let front = front(&medians);
    let at: Vec<(f64, f64)> = medians.iter().map(|(cost, gain)| (x(*cost), y(*gain))).collect();
    let label = format!("{} against {} under {workload}", gain.name, cost.name);
    html! {
        figure {
            figcaption { (workload) }
            svg class="chart" role="img" aria-label=(label) width=(px(WIDTH)) height=(px(HEIGHT))
                viewBox=(format!("0 0 {} {}", px(WIDTH), px(HEIGHT))) {
                title { (label) }
                @for tick in &right.ticks {
                    line class="grid" x1=(px(x(*tick))) x2=(px(x(*tick))) y1=(px(TOP)) y2=(px(FLOOR)) {}
                    text class="middle" x=(px(x(*tick))) y=(px(FLOOR + 15.0)) { (right.label(*tick)) }
                }
                @for tick in &up.ticks {
                    line class="grid" x1=(px(LEFT)) x2=(px(WIDTH - RIGHT)) y1=(px(y(*tick))) y2=(px(y(*tick))) {}
                    text class="end" x=(px(LEFT - 6.0)) y=(px(y(*tick) + 4.0)) { (up.label(*tick)) }
                }
                text x="2" y="12" { (titled(gain, &up)) }
                text class="end" x=(px(WIDTH - RIGHT)) y=(px(HEIGHT - 8.0)) { (titled(cost, &right)) }
                path class="front" d=(stairs(&front, &at)) {}
                @for (index, point) in points.iter().enumerate() {
                    (mark(point, (cost, gain), front.contains(&index), (&x, &y)))
                }
                @for (place, point) in names(&points, &at).into_iter().zip(&points) {
                    @if let Some((x, base, end)) = place {
                        text class=(format!("name {end}")) x=(px(x)) y=(px(base)) {
                            (short(point.subject, NAME))
                        }
                    }
                }
            }
        }
    }
}

fn titled(measure: &MeasureInfo, scale: &Scale) -> String {
    match scale.unit.as_str() {
        "" => short(&measure.name, 40),
        unit => format!("{}, {unit}", short(&measure.name, 40)),
    }
}

fn points<'a>(
    view: &View<'a>,
    cost: &MeasureInfo,
    gain: &MeasureInfo,
    workload: &str,
) -> Vec<Point<'a>> {
    let point = |(place, subject): (usize, &'a String)| {
        let x = view.cell(workload, &cost.name, subject)?.quartiles;
        let y = view.cell(workload, &gain.name, subject)?.quartiles;
        let known = x.iter().chain(&y).all(|value| value.is_finite());
        known.then_some(Point { subject, place, x, y })
    };
    view.judged.subjects.iter().enumerate().filter_map(point).collect()
}

fn median([_, median, _]: [f64; 3]) -> f64 {
    median
}

/// The points that no other beats, from left to right: less to the right and more upwards is good.
fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let beaten = |(x, y): (f64, f64)| {
        points.iter().any(|(ox, oy)| *ox <= x && *oy >= y && (*ox < x || *oy > y))
    };
    let free = points.iter().enumerate().filter(|(_, point)| !beaten(**point));
    let mut front: Vec<(usize, f64)> = free.map(|(index, (x, _))| (index, *x)).collect();
    front.sort_by(|a, b| a.1.total_cmp(&b.1));
    front.into_iter().map(|(index, _)| index).collect()
}

/// The edge of what is reached: up to the first point, then right and up from one to the next.
fn stairs(front: &[usize], at: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (x, y) in front.iter().filter_map(|index| at.get(*index)) {
        let _ = match path.is_empty() {
            true => write!(path, "M{} {}V{}", px(*x), px(FLOOR), px(*y)),
            false => write!(path, "H{}V{}", px(*x), px(*y)),
        };
    }
    if !path.is_empty() {
        let _ = write!(path, "H{}", px(WIDTH - RIGHT));
    }
    path
}

fn mark(
    point: &Point<'_>,
    (cost, gain): (&MeasureInfo, &MeasureInfo),
    on_front: bool,
    (x, y): (&impl Fn(f64) -> f64, &impl Fn(f64) -> f64),
) -> Markup {
    let ([left, cost_is, right], [low, gain_is, high]) = (point.x, point.y);
    let (at_x, at_y) = (x(cost_is), y(gain_is));
    let class = subjects::class(point.place);
    html! {
        g class=(class) {
            title {
                (point.subject) ": " (gain.name) " " (with_unit(gain_is, &gain.unit)) ", "
                (cost.name) " " (with_unit(cost_is, &cost.unit))
            }
            path class="spread" d=(format!(
                "M{} {}H{}M{} {}V{}",
                px(x(left)), px(at_y), px(x(right)), px(at_x), px(y(low)), px(y(high))
            )) {}
            path class=(if on_front { format!("shape on {class}") } else { format!("shape {class}") })
                d=(subjects::shape(point.place, at_x, at_y)) {}
        }
    }
}

/// Where a name stands, and which end of it that is.
type Place = (f64, f64, &'static str);

/// The place of each name beside its point, free of other points and names; `None` where there is
/// no room: the legend has its shape.
fn names(points: &[Point<'_>], at: &[(f64, f64)]) -> Vec<Option<Place>> {
    // Left, top, right and bottom of what is taken.
    let mut taken: Vec<[f64; 4]> =
        at.iter().map(|(x, y)| [x - 6.0, y - 6.0, x + 6.0, y + 6.0]).collect();
    let mut places = Vec::new();
    for (point, (x, y)) in points.iter().zip(at) {
        let length = short(point.subject, NAME).chars().count() as f64 * CHARACTER;
        let free = candidates(*x, *y).into_iter().find_map(|(x, base, end)| {
            let left = match end {
                "end" => x - length,
                "middle" => x - length / 2.0,
                _ => x,
            };
            let [l, t, r, b] = [left, base - LINE + 3.0, left + length, base + 3.0];
            let inside = l >= LEFT && r <= WIDTH && t >= TOP - 8.0 && b <= FLOOR;
            let free = inside && !taken.iter().any(|other| overlap([l, t, r, b], *other));
            free.then_some(((x, base, end), [l, t, r, b]))
        });
        taken.extend(free.map(|(_, area)| area));
        places.push(free.map(|(place, _)| place));
    }
    places
}

/// Beside a point, above, below, and at its corners.
fn candidates(x: f64, y: f64) -> [Place; 8] {
    [
        (x + 9.0, y + 4.0, "start"),
        (x - 9.0, y + 4.0, "end"),
        (x, y - 9.0, "middle"),
        (x, y + 18.0, "middle"),
        (x + 6.0, y + 16.0, "start"),
        (x - 6.0, y - 8.0, "end"),
        (x + 6.0, y - 8.0, "start"),
        (x - 6.0, y + 16.0, "end"),
    ]
}

fn overlap([l, t, r, b]: [f64; 4], [ol, ot, or, ob]: [f64; 4]) -> bool {
    l < or && ol < r && t < ob && ot < b
}

#[cfg(test)]
mod tests {
    use super::*;

    // (1, 10) is cheapest and (3, 30) best; (2, 5) costs more than (1, 10) for less; (3, 20) is
    // beaten by (3, 30); twins are both on it.
    #[test]
    fn the_front_is_what_nothing_beats() {
        let points = [(3.0, 30.0), (2.0, 5.0), (1.0, 10.0), (3.0, 20.0), (1.0, 10.0)];
        assert_eq!(front(&points), [2, 4, 0]);
        assert_eq!(front(&[]), [0usize; 0]);
    }

    #[test]
    fn the_edge_goes_right_before_it_goes_up() {
        let at = [(300.0, 50.0), (100.0, 150.0)];
        assert_eq!(stairs(&[1, 0], &at), "M100 210V150H300V50H346");
        assert_eq!(stairs(&[], &at), "");
    }

    #[test]
    fn names_of_points_at_one_place_do_not_lie_on_each_other() {
        let point = |subject| Point { subject, place: 0, x: [1.0; 3], y: [1.0; 3] };
        let points = ["aa", "bb", "cc", "dd"].map(point);
        let placed = names(&points, &[(200.0, 100.0); 4]);
        let expected = [
            (209.0, 104.0, "start"),
            (191.0, 104.0, "end"),
            (200.0, 91.0, "middle"),
            (200.0, 118.0, "middle"),
        ];
        assert_eq!(placed, expected.map(Some));
    }

    // The plot ends at 360: from 355 no name of two characters fits to the right.
    #[test]
    fn a_name_without_room_to_the_right_stands_to_the_left_and_one_without_any_is_left_out() {
        let point = |subject| Point { subject, place: 0, x: [1.0; 3], y: [1.0; 3] };
        assert_eq!(names(&[point("aa")], &[(355.0, 100.0)]), [Some((346.0, 104.0, "end"))]);
        let crowd: Vec<Point<'_>> = (0..9).map(|_| point("abcdefghij")).collect();
        assert!(names(&crowd, &[(200.0, 100.0); 9]).contains(&None));
    }
}
