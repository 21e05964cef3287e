use super::*;
use crate::live::Root;
use std::fs;

const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const RATE: &str = "/sys/devices/system/cpu/cpufreq/schedutil/rate_limit_us";

struct Case {
    _folder: tempfile::TempDir,
    results: PathBuf,
    host: Host,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::here(Root::at(folder.path().join("tree")));
        let results = folder.path().join("results");
        fs::create_dir_all(&results).unwrap();
        let case = Self { _folder: folder, results, host };
        case.put(GOVERNOR, "schedutil\n");
        case.put(RATE, "500\n");
        case.put("/proc/sys/kernel/random/boot_id", "one\n");
        case
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.host.root().path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn now(&self, path: &str) -> String {
        self.host.line(path).unwrap().unwrap()
    }

    fn knobs(&self) -> Knobs {
        Knobs::new(&self.results, &self.host)
    }

    fn noted(&self) -> Option<String> {
        fs::read_to_string(note::file(&self.results)).ok()
    }
}

fn wanted(value: &str) -> BTreeMap<String, String> {
    [(GOVERNOR.to_owned(), value.to_owned())].into()
}

#[test]
fn what_was_there_is_noted_and_put_back_with_the_tunables_that_a_switch_loses() {
    let case = Case::new();
    let mut knobs = case.knobs();
    knobs.apply(&case.host, &wanted("performance")).unwrap();
    knobs.apply(&case.host, &wanted("powersave")).unwrap();
    assert_eq!(case.now(GOVERNOR), "powersave");
    let noted = case.noted().unwrap();
    assert!(
        noted.contains(r#""before":"schedutil","wrote":["performance","powersave"]"#),
        "{noted}"
    );
    // As the kernel does when a governor comes back.
    case.put(RATE, "1000\n");
    assert_eq!(knobs.end(&case.host), Vec::<String>::new());
    assert_eq!((case.now(GOVERNOR), case.now(RATE)), ("schedutil".into(), "500".into()));
    assert_eq!(case.noted(), None);
}

#[test]
fn the_next_subject_does_not_inherit_what_the_one_before_asked_for() {
    let case = Case::new();
    let mut knobs = case.knobs();
    knobs.apply(&case.host, &wanted("performance")).unwrap();
    knobs.apply(&case.host, &BTreeMap::new()).unwrap();
    assert_eq!((case.now(GOVERNOR), case.noted()), ("schedutil".into(), None));
}

#[test]
fn what_somebody_else_wrote_is_left_and_said() {
    let case = Case::new();
    let mut knobs = case.knobs();
    knobs.apply(&case.host, &wanted("performance")).unwrap();
    case.put(GOVERNOR, "ondemand\n");
    let said = knobs.end(&case.host);
    assert_eq!(said, [format!("{GOVERNOR} is left at ondemand, which somebody else wrote")]);
    assert_eq!(case.now(GOVERNOR), "ondemand");
}

#[test]
fn a_value_that_does_not_read_back_is_an_error_that_names_both() {
    let case = Case::new();
    let path = case.host.root().path(GOVERNOR);
    fs::remove_file(&path).unwrap();
    // A file of the kernel that keeps 15 characters of what is written: this thread's name.
    std::os::unix::fs::symlink("/proc/thread-self/comm", &path).unwrap();
    let mut knobs = case.knobs();
    let error = knobs.apply(&case.host, &wanted("performance-and-more")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{GOVERNOR} reads performance-and after performance-and-more was written")
    );
    assert!(case.noted().is_some(), "it was written, so it is to be put back");
}

#[test]
fn what_could_not_be_put_back_is_not_written() {
    let case = Case::new();
    case.put(GOVERNOR, "\n");
    let error = case.knobs().apply(&case.host, &wanted("performance")).unwrap_err();
    assert!(error.to_string().contains("could not be put back"), "{error}");
    assert_eq!((case.now(GOVERNOR), case.noted()), (String::new(), None));
}

#[test]
fn without_a_note_nothing_is_written() {
    let case = Case::new();
    fs::remove_dir(&case.results).unwrap();
    assert!(case.knobs().apply(&case.host, &wanted("performance")).is_err());
    assert_eq!(case.now(GOVERNOR), "schedutil");
}
