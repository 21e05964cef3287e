//! `bwmon boards show`, `check` and `probe`, and `run` on the board of a device tree.

use crate::common::{BOARD, Ran, at, bad, bwmon, command, folder, good, json, repository};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn put(path: PathBuf, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn cells(path: PathBuf, values: &[u32]) {
    put(path, &values.iter().flat_map(|cell| cell.to_be_bytes()).collect::<Vec<u8>>());
}

/// SDM845's CPU monitor and what it refers to, as the kernel shows a device tree. `ddr` lists the
/// peaks of its LLCC monitor's table.
pub(crate) fn sdm845(base: &Path, ddr: &[u32]) {
    put(base.join("compatible"), b"acme,phone\0qcom,sdm845\0");
    put(base.join("model"), b"Acme Phone\0");
    for name in ["#address-cells", "#size-cells"] {
        cells(base.join(name), &[2]);
        cells(base.join("soc@0").join(name), &[2]);
    }
    cells(base.join("interrupt-parent"), &[1]);
    let soc = base.join("soc@0");
    cells(soc.join("ranges"), &[0, 0, 0, 0, 0x10, 0]);
    put(soc.join("gic/compatible"), b"arm,gic-v3\0");
    cells(soc.join("gic/#interrupt-cells"), &[3]);
    cells(soc.join("gic/phandle"), &[1]);
    for (name, compatible, phandle) in
        [("gnoc", "qcom,sdm845-gladiator-noc\0", 2), ("mem", "qcom,sdm845-mem-noc\0", 3)]
    {
        put(soc.join(name).join("compatible"), compatible.as_bytes());
        cells(soc.join(name).join("#interconnect-cells"), &[2]);
        cells(soc.join(name).join("phandle"), &[phandle]);
    }
    let cpu = [4_800_000, 9_216_000, 15_052_800, 20_889_600, 25_497_600];
    type Block<'a> = (&'a str, &'a [u8], u32, u32, [u32; 6], &'a [u32]);
    let blocks: [Block<'_>; 2] = [
        (
            "1436400",
            b"qcom,sdm845-cpu-bwmon\0qcom,sdm845-bwmon\0",
            0x600,
            581,
            [2, 0, 3, 3, 10, 3],
            &cpu,
        ),
        ("114a000", b"qcom,sdm845-llcc-bwmon\0", 0x1000, 580, [3, 13, 3, 3, 14, 3], ddr),
    ];
    for (index, (address, compatible, size, spi, path, levels)) in blocks.into_iter().enumerate() {
        let pmu = soc.join(format!("pmu@{address}"));
        put(pmu.join("compatible"), compatible);
        cells(pmu.join("reg"), &[0, u32::from_str_radix(address, 16).unwrap(), 0, size]);
        cells(pmu.join("interrupts"), &[0, spi, 4]);
        cells(pmu.join("interconnects"), &path);
        cells(pmu.join("operating-points-v2"), &[100 + index as u32]);
        cells(pmu.join("opp-table/phandle"), &[100 + index as u32]);
        for (level, kbps) in levels.iter().enumerate() {
            cells(pmu.join(format!("opp-table/opp-{level}/opp-peak-kBps")), &[*kbps]);
        }
    }
}

pub(crate) const DDR: [u32; 5] = [800_000, 1_804_000, 3_072_000, 5_412_000, 7_216_000];

/// A machine in a folder: the tree, a platform device for each block, a sparse `/dev/mem`.
pub(crate) struct Phone {
    pub(crate) folder: TempDir,
}

impl Phone {
    pub(crate) fn new(ddr: &[u32]) -> Self {
        let phone = Self { folder: tempfile::tempdir().unwrap() };
        sdm845(&phone.path("sys/firmware/devicetree/base"), ddr);
        for device in ["1436400.pmu", "114a000.pmu"] {
            fs::create_dir_all(phone.path("sys/bus/platform/devices").join(device)).unwrap();
        }
        put(phone.path("proc/sys/kernel/random/boot_id"), b"one\n");
        put(phone.path("dev/mem"), b"");
        let mem = fs::OpenOptions::new().write(true).open(phone.path("dev/mem")).unwrap();
        mem.set_len(0x0144_0000).unwrap();
        phone
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        put(self.path(name), text.as_bytes());
    }

    /// The kernel's driver has the block.
    pub(crate) fn bind(&self, device: &str) {
        let device = self.path("sys/bus/platform/devices").join(device);
        symlink("../../drivers/qcom-bwmon", device.join("driver")).unwrap();
    }

    /// `bwmon <args>` on this machine.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        command(args).arg("--root").arg(self.folder.path()).output().unwrap().into()
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
    }
}

#[test]
fn boards_show_is_what_boards_with_a_name_was() {
    for args in [["--json"].as_slice(), &["--file"], &[]] {
        let old = good(&[["boards", "sdm845"].as_slice(), args].concat()).stdout;
        let new = good(&[["boards", "show", "sdm845"].as_slice(), args].concat()).stdout;
        assert_eq!(old, new);
    }
    let shown = good(&["boards", "show", "sc7180"]).stdout;
    assert!(shown.contains("MiB/s times 1000"), "{shown}");
    assert!(good(&["boards", "show", "sdm845"]).stdout.contains("count unit of llcc is in doubt"));
    assert!(bad(2, &["boards", "show", "sdm854"]).contains("did you mean sdm845?"));
}

#[test]
fn boards_check_lists_all_faults_with_their_lines_and_answers_no() {
    let text = BOARD
        .replace("[1_804_000]", "[0]")
        .replace("source =", "sauce = 1\nsource =")
        .replace("count_unit_kB = 64", "count_unit_kB = 64\nirq_shred = true");
    let files = folder(&[("good.toml", BOARD), ("bad.toml", &text)]);
    let file = at(&files, "bad.toml");
    let ran = bwmon(&["boards", "check", &file]);
    assert_eq!(ran.code, Some(1));
    for place in ["bad.toml:4:1", "bad.toml:13:1", "bad.toml:18:29"] {
        assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
    }
    assert!(ran.stderr.contains("did you mean irq_shared?"), "{}", ran.stderr);
    assert_eq!(ran.stdout, format!("{file}: 3 faults\n"));
    let ran = bwmon(&["boards", "check", "--json", &at(&files, "good.toml"), &file]);
    assert_eq!(ran.code, Some(1));
    let checked: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&checked[0]["good"], &checked[1]["good"]), (&true.into(), &false.into()));
    let lines: Vec<u64> = checked[1]["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [4, 13, 18]);
    good(&["boards", "check", &at(&files, "good.toml")]);
    assert!(bad(2, &["boards", "check", "/not/there.toml"]).contains("cannot read"));
}

#[test]
fn the_board_file_in_the_documentation_is_good() {
    let page = fs::read_to_string(repository().join("docs/boards.md")).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let files = folder(&[("example.toml", example)]);
    let checked = good(&["boards", "check", &at(&files, "example.toml")]).stdout;
    assert!(!checked.contains("no vote path"), "{checked}");
    let shown = good(&["boards", "show", &at(&files, "example.toml")]).stdout;
    for path in ["soc:ddr-bw, the governor userspace", "acm_l3 -> qns_llcc", "bus_dcvs L3"] {
        assert!(shown.contains(path), "{path}: {shown}");
    }
}

#[test]
fn probe_says_what_the_machine_has_who_has_it_and_how_it_differs() {
    let phone = Phone::new(&[800_000, 1_804_000, 6_220_000]);
    phone.bind("1436400.pmu");
    phone.write("sys/kernel/debug/qcom_smem/dram_frequencies", "200000000\n451000000\n");
    let found = phone.json(&["boards", "probe", "--json"]);
    assert_eq!((&found["model"], &found["board"]["id"]), (&"Acme Phone".into(), &"sdm845".into()));
    let (cpu, llcc) = (&found["blocks"][0], &found["blocks"][1]);
    assert_eq!(cpu["path"], "/soc@0/pmu@1436400");
    assert_eq!(cpu["state"]["driver"], "qcom-bwmon");
    assert_eq!(
        (&cpu["state"]["reachable"], &llcc["state"]["reachable"]),
        (&false.into(), &true.into())
    );
    assert_eq!((&cpu["interrupt"]["spi"], &cpu["monitor"]), (&581.into(), &"cpu".into()));
    assert_eq!(cpu["paths"][0]["dst"]["name"], "SLAVE_LLCC");
    let difference = &found["differences"][0];
    assert_eq!((&difference["of"], &difference["used"]), (&"domain ddr".into(), &"tree".into()));
    assert_eq!(difference["tree"], "3 levels, its own: 6220000");
    // 6220000 kBps are 1555 MHz; the memory's highest clock is 451.
    assert_eq!(
        (&found["marks"][0]["level"], &found["marks"][0]["what"]),
        (&2.into(), &"above_the_top".into())
    );
    let text = phone.run(&["boards", "probe"]).stdout;
    for words in [
        "the kernel's driver holds them",
        "yes: through /dev/mem",
        "SPI 580, not shared",
        "the tree's is used",
        "the fitted memory's highest clock gives 1804000 kBps",
        "decimal: clock times width",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_copied_tree_is_probed_and_written_as_a_board_file_that_is_good() {
    let copy = folder(&[]);
    let (tree, file) = (at(&copy, "tree"), at(&copy, "mine.toml"));
    sdm845(Path::new(&tree), &DDR);
    let found = json(&["boards", "probe", "--json", "--tree", &tree, "--write", &file]);
    assert_eq!(
        found["blocks"][0]["state"],
        Value::Null,
        "another machine's registers are not here"
    );
    let checked = good(&["boards", "check", &file]).stdout;
    assert!(checked.contains(": good"), "{checked}");
    let (mine, shipped) =
        (json(&["boards", "show", &file, "--json"]), json(&["boards", "show", "sdm845", "--json"]));
    for part in ["id", "compatible", "monitors", "domains"] {
        assert_eq!(mine[part], shipped[part], "{part}");
    }
    good(&["sim", "--ticks", "10", "--board", &file]);
    let said = bad(2, &["boards", "probe", "--tree", &tree, "--write", &file]);
    assert!(said.contains("mine.toml") && said.contains("exists"), "{said}");
}

#[test]
fn trees_with_nothing_answer_no_and_what_is_no_tree_is_refused() {
    let copy = folder(&[("x.dtb", "no tree")]);
    let ran = bwmon(&["boards", "probe", "--root", copy.path().to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.contains("this machine has no device tree")), (Some(1), true));
    let said = bad(2, &["boards", "probe", "--tree", &at(&copy, "x.dtb")]);
    assert!(said.contains("no compiled device tree"), "{said}");
    let said = bad(2, &["boards", "probe", "--tree", copy.path().to_str().unwrap()]);
    assert!(said.contains("holds no device tree"), "{said}");
    put(copy.path().join("bare/compatible"), b"acme,toaster\0");
    let bare = at(&copy, "bare");
    assert_eq!(bwmon(&["boards", "probe", "--tree", &bare]).code, Some(1));
    let file = at(&copy, "none.toml");
    let said = bad(2, &["boards", "probe", "--tree", &bare, "--write", &file]);
    assert!(said.contains("nothing to write") && !Path::new(&file).exists(), "{said}");
}

#[test]
fn an_odd_node_is_named_with_its_path_and_the_rest_is_used() {
    let phone = Phone::new(&DDR);
    cells(phone.path("sys/firmware/devicetree/base/soc@0/pmu@1436400/interconnects"), &[2, 0, 3]);
    let found = phone.json(&["boards", "probe", "--json"]);
    assert_eq!(found["problems"][0]["path"], "/soc@0/pmu@1436400");
    assert_eq!(found["tables"][0]["domain"], "ddr");
}

#[test]
fn run_takes_the_board_of_the_device_tree_and_says_which_and_why() {
    let phone = Phone::new(&DDR[..3]);
    let (journal, state) = (at(&phone.folder, "journal"), at(&phone.folder, "state"));
    let args = ["run", "--dry-run", "--ticks", "5", "--journal", &journal, "--state-dir", &state];
    let ran = phone.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("bwmon: board sdm845: the device tree (acme,phone, qcom,sdm845)"),
        "{}",
        ran.stderr
    );
    let text = fs::read_to_string(journal).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let ddr = &header["board"]["domains"][1];
    assert_eq!(
        (&ddr["name"], ddr["table"]["opp_peak_kBps"].as_array().unwrap().len()),
        (&"ddr".into(), 3)
    );
}

#[test]
fn run_on_a_machine_without_a_tree_says_what_to_do() {
    let empty = folder(&[]);
    let root = empty.path().to_str().unwrap();
    let said = bad(2, &["run", "--root", root, "--state-dir", &at(&empty, "state")]);
    assert!(said.contains("no device tree") && said.contains("--board FILE"), "{said}");
}
