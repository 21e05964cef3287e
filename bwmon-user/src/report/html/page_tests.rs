use super::*;
use crate::experiment::{Better, Effect, JudgedCell, Runs, Verdict};
use crate::report::samples::{any_judged, measure, said, two_workloads};
use crate::units::{Kbps, Nanos};
use proptest::prelude::*;

/// The page as XML: its only void elements are `meta`.
fn checked(page: &str) -> Result<(), String> {
    let body = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let mut xml = String::new();
    for (index, part) in body.split("<meta ").enumerate() {
        xml.push_str(&match index {
            0 => part.to_owned(),
            _ => format!("<meta {}", part.replacen('>', "/>", 1)),
        });
    }
    let document = roxmltree::Document::parse(&xml).map_err(|error| error.to_string())?;
    for node in document.descendants().filter(|node| node.is_element()) {
        if node.tag_name().name() == "script" {
            return Err("a script".to_owned());
        }
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let number = !["aria-label", "title", "content"].contains(&name);
            if number && (value.contains("NaN") || value.contains("inf")) {
                return Err(format!("no number: {name}={value}"));
            }
            if name.starts_with("on") || (name == "href" && !value.starts_with('#')) {
                return Err(format!("leads away: {name}={value}"));
            }
        }
    }
    Ok(())
}

fn trace(workload: &str, subject: &str, points: u64) -> Trace {
    let point = |i: u64| TracePoint {
        at: Nanos(i * 4 * Nanos::PER_MS),
        bandwidth: (i % 1000 < 970).then_some(Kbps(match i % 500 {
            ..200 => 300_000 + (i * 7_919) % 200_000,
            phase => 3_000_000 + phase * 3_000 + (i * 7_919) % 700_000,
        })),
        vote: Some(Kbps(if (i + 490) % 500 < 200 { 1_804_000 } else { 5_412_000 })),
    };
    let (workload, subject, domain) = (workload.to_owned(), subject.to_owned(), "llcc".to_owned());
    Trace { workload, subject, domain, points: (0..points).map(point).collect() }
}

#[test]
fn a_page_is_well_formed_and_stands_alone() {
    let page = html(&two_workloads(), &[trace("burst", "V", 100), trace("idle", "adaptive", 0)]);
    checked(&page).unwrap();
    for outside in ["http:", "https:", "url(", "@import", "<link", "<img", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<style").count(), 1);
}

#[test]
fn names_are_text_and_never_markup() {
    let evil = "\"><script>alert(1)</script>\u{1}";
    let mut judged = two_workloads();
    for text in crate::report::view::texts(&mut judged) {
        text.push_str(evil);
    }
    let page = html(&judged, &[trace(evil, evil, 3)]);
    checked(&page).unwrap();
    assert!(!page.contains("<script"));
    assert!(page.contains("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u{fffd}"));
}

#[test]
fn tables_say_what_the_terminal_says() {
    let page = html(&two_workloads(), &[]);
    assert!(page.contains("<td>2 119 000 kB/s</td>"));
    assert!(page.contains("undecided (34 needed)"));
    assert!(page.contains("+240.6 %") && page.contains("[+238.1, +243.0]"));
    assert!(page.contains("20 pairs, p &lt;0.001, corrected 0.002"));
    assert!(page.contains("adaptive, idle: exit status 1"));
    assert!(page.contains("<td class=\"absent\">failed</td>"), "the vote integral of idle");
}

#[test]
fn charts_that_cannot_be_drawn_are_sentences() {
    let mut judged = two_workloads();
    judged.measures.retain(|measure| measure.primary);
    judged.cells.clear();
    judged.skipped = vec![said("V", "", "no devfreq device")];
    let page = html(&judged, &[]);
    checked(&page).unwrap();
    assert!(page.contains("No effect is known"));
    assert!(page.contains("Not drawn: it takes a primary measure"));
    assert!(page.contains("Not drawn: no journal was kept."));
    assert!(page.contains("nothing known"));
}

// The estimate of 240.61 and the smallest effect of 1: the axis reaches from -1 - 5 % of 244 to
// 243 + 5 % of 244, -13.2 to 255.2; its 410 pixels begin at 190.
// 240.61 lies at 190 + 410 * (240.61 + 13.2) / 268.4 = 577.7.
#[test]
fn an_effect_is_drawn_where_it_is() {
    let mut judged = two_workloads();
    judged.cells.truncate(2);
    let page = html(&judged, &[]);
    assert!(page.contains("<circle class=\"estimate\" cx=\"577.7\""), "{page}");
}

#[test]
fn all_charts_have_a_name() {
    let page = html(&two_workloads(), &[trace("burst", "V", 10)]);
    let images = page.matches("<svg").count();
    let named = page.matches("aria-label=\"").count() - 1;
    // The legend's shapes stand beside their names.
    assert_eq!(images, named + page.matches("aria-hidden").count());
    assert!(named >= 6, "{named}");
}

/// 13 workloads, 5 subjects, 20 blocks, 4 measures: noise from a fixed generator.
fn large() -> Judged {
    let mut judged = two_workloads();
    judged.what = "Which governor carries the seed's traffic at the least votes?".to_owned();
    judged.subjects =
        ["V", "bwmon", "adaptive", "performance", "no_votes"].map(str::to_owned).into();
    let sizes = ["1 kB", "4 kB", "16 kB", "64 kB", "256 kB", "1 MB"];
    let rows = sizes.iter().flat_map(|size| ["W/seq", "R/rnd"].map(|way| format!("{size} {way}")));
    judged.workloads = rows.chain(["video playback 4k".to_owned()]).collect();
    judged.measures.push(measure("below_demand_ms", "ms", Better::Lower, false));
    judged.measures.push(MeasureInfo {
        by_ratio: false,
        smallest_effect: 2.0,
        ..measure("transitions", "", Better::Lower, false)
    });
    let mut state = 1u64;
    let mut noise = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    judged.cells = Vec::new();
    for (row, workload) in judged.workloads.iter().enumerate() {
        for info in &judged.measures {
            let base = 50_000.0 * 1.9f64.powi(row as i32 % 8)
                / if info.unit == "kB/s" { 1.0 } else { 50.0 };
            for (nth, subject) in judged.subjects.iter().enumerate() {
                let nth = nth as f64;
                let gain = 1.0 + 0.05 * nth * (1.0 - nth / 5.0) * (1 + row % 4) as f64
                    - f64::from(nth == 4.0) * 0.3;
                let values: Vec<(u32, f64)> =
                    (0..20).map(|block| (block, base * gain * (1.0 + 0.04 * noise()))).collect();
                let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
                sorted.sort_by(f64::total_cmp);
                let estimate = 100.0 * (gain - 1.0) + noise();
                let benefit = if info.better == Better::Higher { estimate } else { -estimate };
                let (low, high) = (estimate - 1.5 - noise(), estimate + 1.5 + noise());
                let verdict = match benefit {
                    ..-2.0 => Verdict::Worse,
                    ..0.5 => Verdict::Equivalent,
                    ..2.0 => Verdict::Undecided,
                    _ => Verdict::Better,
                };
                let pairs_needed = (verdict == Verdict::Undecided).then_some(46);
                let (p, p_adjusted) = (0.0001, 0.004);
                let effect =
                    Effect { pairs: 20, estimate, low, high, p, p_adjusted, verdict, pairs_needed };
                judged.cells.push(JudgedCell {
                    workload: workload.clone(),
                    measure: info.name.clone(),
                    subject: subject.clone(),
                    quartiles: [sorted[5], (sorted[9] + sorted[10]) / 2.0, sorted[15]],
                    values,
                    effect: (nth > 0.0).then_some(effect),
                });
            }
        }
    }
    // A subject that could not run once, and an interval that goes on beyond the axis.
    judged.cells.retain(|cell| !(cell.subject == "performance" && cell.workload.starts_with("16")));
    if let Some(effect) = &mut judged.cells[2].effect {
        (effect.low, effect.high) = (-300.0, 900.0);
    }
    judged.runs = Runs { done: 1260, failed: 2, void: 15, skipped: 40 };
    judged.skipped = vec![said("performance", "", "no devfreq device")];
    judged
}

fn large_page() -> String {
    let judged = large();
    let traces = judged
        .workloads
        .iter()
        .flat_map(|workload| judged.subjects.iter().map(|subject| trace(workload, subject, 5_000)));
    html(&judged, &traces.collect::<Vec<_>>())
}

#[test]
fn thirteen_workloads_and_five_subjects_stay_below_two_megabytes() {
    let page = large_page();
    checked(&page).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// For looking at it: `cargo test -p bwmon-user --lib -- --ignored --nocapture page_to_look_at`.
#[test]
#[ignore = "prints a page for a browser"]
fn page_to_look_at() {
    println!("{}", large_page());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_results_make_a_well_formed_page(judged in any_judged(), names in prop::array::uniform3(any::<String>())) {
        let [workload, subject, domain] = names;
        let trace = Trace { workload, subject, domain, ..trace("", "", 20) };
        let page = checked(&html(&judged, &[trace]));
        prop_assert!(page.is_ok(), "{page:?}");
    }
}
