//! Names of interconnect nodes.
//!
//! A compiled tree holds `<&mem_noc SLAVE_LLCC 3>` as three numbers: a phandle, the id 10, the tag 3.
//! The ids are those of `include/dt-bindings/interconnect/qcom,*.h`; listed is what the paths of
//! BWMON blocks and CPUs use.

/// A provider of interconnect nodes.
struct Provider {
    compatible: &'static str,
    /// Its label in the sources.
    label: &'static str,
    ids: &'static [(u32, &'static str)],
}

/// `MASTER_LLCC` and `SLAVE_EBI1` of a provider that has nothing else.
const MEMORY: &[(u32, &str)] = &[(0, "MASTER_LLCC"), (1, "SLAVE_EBI1")];

macro_rules! providers {
    ($($compatible:literal $label:literal $ids:expr;)*) => {
        &[$(Provider { compatible: $compatible, label: $label, ids: $ids }),*]
    };
}

const PROVIDERS: &[Provider] = providers![
    "qcom,glymur-hscnoc" "hsc_noc" &[(3, "MASTER_APPSS_PROC"), (16, "SLAVE_LLCC")];
    "qcom,glymur-mc-virt" "mc_virt" MEMORY;
    "qcom,kaanapali-gem-noc" "gem_noc" &[(2, "MASTER_APPSS_PROC"), (15, "SLAVE_LLCC")];
    "qcom,kaanapali-mc-virt" "mc_virt" MEMORY;
    "qcom,mahua-hscnoc" "hsc_noc" &[(3, "MASTER_APPSS_PROC"), (16, "SLAVE_LLCC")];
    "qcom,qcm2290-bimc" "bimc" &[(0, "MASTER_APPSS_PROC"), (6, "SLAVE_EBI1")];
    "qcom,qcs615-gem-noc" "gem_noc" &[(1, "MASTER_APPSS_PROC"), (12, "SLAVE_LLCC")];
    "qcom,qcs615-mc-virt" "mc_virt" &[(1, "MASTER_LLCC"), (2, "SLAVE_EBI1")];
    "qcom,qcs8300-gem-noc" "gem_noc" &[(3, "MASTER_APPSS_PROC"), (14, "SLAVE_LLCC")];
    "qcom,qcs8300-mc-virt" "mc_virt" MEMORY;
    "qcom,sa8775p-gem-noc" "gem_noc" &[(3, "MASTER_APPSS_PROC"), (15, "SLAVE_LLCC")];
    "qcom,sa8775p-mc-virt" "mc_virt" MEMORY;
    "qcom,sc7180-gem-noc" "gem_noc" &[(0, "MASTER_APPSS_PROC"), (11, "SLAVE_LLCC")];
    "qcom,sc7180-mc-virt" "mc_virt" MEMORY;
    "qcom,sc7280-gem-noc" "gem_noc" &[(2, "MASTER_APPSS_PROC"), (14, "SLAVE_LLCC")];
    "qcom,sc7280-mc-virt" "mc_virt" MEMORY;
    "qcom,sc8280xp-gem-noc" "gem_noc" &[(3, "MASTER_APPSS_PROC"), (14, "SLAVE_LLCC")];
    "qcom,sc8280xp-mc-virt" "mc_virt" MEMORY;
    "qcom,sdm845-gladiator-noc" "gladiator_noc" &[(0, "MASTER_APPSS_PROC")];
    "qcom,sdm845-mem-noc" "mem_noc" &[(10, "SLAVE_LLCC"), (13, "MASTER_LLCC"), (14, "SLAVE_EBI1")];
    "qcom,sm6115-bimc" "bimc" &[(0, "MASTER_AMPSS_M0"), (6, "SLAVE_EBI_CH0")];
    "qcom,sm6350-clk-virt" "clk_virt" &[(5, "MASTER_LLCC"), (9, "SLAVE_EBI_CH0")];
    "qcom,sm6350-gem-noc" "gem_noc" &[(0, "MASTER_AMPSS_M0"), (12, "SLAVE_LLCC")];
    "qcom,sm8250-gem-noc" "gem_noc" &[(2, "MASTER_AMPSS_M0"), (12, "SLAVE_LLCC")];
    "qcom,sm8250-mc-virt" "mc_virt" &[(0, "MASTER_LLCC"), (1, "SLAVE_EBI_CH0")];
    "qcom,sm8550-gem-noc" "gem_noc" &[(2, "MASTER_APPSS_PROC"), (13, "SLAVE_LLCC")];
    "qcom,sm8550-mc-virt" "mc_virt" MEMORY;
    "qcom,sm8650-gem-noc" "gem_noc" &[(3, "MASTER_APPSS_PROC"), (15, "SLAVE_LLCC")];
    "qcom,sm8650-mc-virt" "mc_virt" MEMORY;
    "qcom,sm8750-gem-noc" "gem_noc" &[(2, "MASTER_APPSS_PROC"), (15, "SLAVE_LLCC")];
    "qcom,sm8750-mc-virt" "mc_virt" MEMORY;
    "qcom,x1e80100-gem-noc" "gem_noc" &[(3, "MASTER_APPSS_PROC"), (13, "SLAVE_LLCC")];
    "qcom,x1e80100-mc-virt" "mc_virt" MEMORY;
];

/// The L3 clock's provider is called `qcom,<soc>-osm-l3` or `-epss-l3` and has the same two ids on
/// every SoC (`qcom,osm-l3.h`).
const L3: &[(&str, Provider)] = &[
    (
        "osm-l3",
        Provider {
            compatible: "qcom,osm-l3",
            label: "osm_l3",
            ids: &[(0, "MASTER_OSM_L3_APPS"), (1, "SLAVE_OSM_L3")],
        },
    ),
    (
        "epss-l3",
        Provider {
            compatible: "qcom,epss-l3",
            label: "epss_l3",
            ids: &[(0, "MASTER_EPSS_L3_APPS"), (1, "SLAVE_EPSS_L3_SHARED")],
        },
    ),
];

fn provider(compatible: &str) -> Option<&'static Provider> {
    let exact = PROVIDERS.iter().find(|provider| provider.compatible == compatible);
    exact.or_else(|| {
        let of_soc = compatible.starts_with("qcom,");
        L3.iter().find(|(end, _)| of_soc && compatible.ends_with(end)).map(|(_, provider)| provider)
    })
}

/// The label of a provider in the sources, if it is a known one.
pub(super) fn label(compatible: &[String]) -> Option<&'static str> {
    compatible.iter().find_map(|name| provider(name)).map(|provider| provider.label)
}

/// The name of the node `id` of a provider, if both are known.
pub(super) fn name(compatible: &[String], id: u32) -> Option<&'static str> {
    let provider = compatible.iter().find_map(|name| provider(name))?;
    provider.ids.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}

/// The compatible and the id of `node` (`SLAVE_LLCC`) of the provider with `label` on `soc`.
#[cfg(test)]
pub(super) fn find(soc: &str, label: &str, node: &str) -> Option<(&'static str, u32)> {
    let prefix = format!("qcom,{soc}-");
    let of_soc = PROVIDERS.iter().filter(|p| p.compatible.starts_with(&prefix));
    let provider = of_soc.chain(L3.iter().map(|(_, p)| p)).find(|p| p.label == label)?;
    let (id, _) = provider.ids.iter().find(|(_, name)| *name == node)?;
    Some((provider.compatible, *id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(compatible: &[&str]) -> Vec<String> {
        compatible.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_first_known_compatible_counts() {
        let l3 = names(&["qcom,sc7280-epss-l3", "qcom,epss-l3"]);
        assert_eq!((label(&l3), name(&l3, 1)), (Some("epss_l3"), Some("SLAVE_EPSS_L3_SHARED")));
        let noc = names(&["acme,new-noc", "qcom,sdm845-mem-noc"]);
        assert_eq!((label(&noc), name(&noc, 10)), (Some("mem_noc"), Some("SLAVE_LLCC")));
        assert_eq!(name(&noc, 11), None);
        assert_eq!(label(&names(&["acme,osm-l3"])), None);
    }
}
