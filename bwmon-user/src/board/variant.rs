//! What the mainline driver knows of a block by its compatible: `drivers/soc/qcom/icc-bwmon.c`,
//! `bwmon_of_match` and the variants' data.

use crate::bwmon::Layout;

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The compatible string that stands for it.
    pub compatible: &'static str,
    /// Register layout.
    pub layout: Layout,
    /// Count unit, in the driver's kB.
    pub unit_kb: u32,
    /// NEEDS_FORCE_CLEAR.
    pub force_clear: bool,
}

const fn v4(compatible: &'static str) -> Variant {
    Variant { compatible, layout: Layout::V4Unified, unit_kb: 64, force_clear: false }
}

/// All of them. Names with "cpu" and "llcc" say where a block sits, not what it is: SM6350's CPU
/// monitor is a v5 block, its LLCC monitor a v4 one.
pub const VARIANTS: &[Variant] = &[
    Variant {
        compatible: "qcom,msm8998-bwmon",
        layout: Layout::V4Split,
        unit_kb: 1024,
        force_clear: false,
    },
    v4("qcom,sdm845-bwmon"),
    Variant {
        compatible: "qcom,sdm845-llcc-bwmon",
        layout: Layout::V5,
        unit_kb: 1024,
        force_clear: false,
    },
    Variant {
        compatible: "qcom,sc7280-llcc-bwmon",
        layout: Layout::V5,
        unit_kb: 64,
        force_clear: true,
    },
    // Matched by their own name since before the fallback was there.
    v4("qcom,sc7280-cpu-bwmon"),
    v4("qcom,sc8280xp-cpu-bwmon"),
    v4("qcom,sm8550-cpu-bwmon"),
];

/// The variant of a node: the first of its compatible strings, most specific first, that is known.
pub fn variant<'a>(compatible: impl IntoIterator<Item = &'a String>) -> Option<&'static Variant> {
    compatible
        .into_iter()
        .find_map(|name| VARIANTS.iter().find(|variant| variant.compatible == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{builtin, builtin_ids};

    #[test]
    fn every_built_in_monitor_is_what_its_compatible_says() {
        for id in builtin_ids() {
            for monitor in builtin(id).unwrap().unwrap().monitors {
                let variant = variant(&monitor.compatible).unwrap();
                assert_eq!(
                    (variant.layout, variant.unit_kb, variant.force_clear),
                    (monitor.layout, monitor.scale.unit_kb, monitor.force_clear),
                    "{id} {}",
                    monitor.name
                );
            }
        }
    }

    #[test]
    fn the_fallback_counts_where_the_own_name_is_unknown() {
        let names = ["qcom,shikra-cpu-bwmon".to_owned(), "qcom,sc7280-llcc-bwmon".to_owned()];
        assert_eq!(variant(&names).unwrap().layout, Layout::V5);
        assert_eq!(variant(&["acme,bwmon".to_owned()]), None);
    }
}
