//! Our side of the comparison: the agent's own road, once with the native rule, once with the
//! script that ships.

use anyhow::{Context, Result, anyhow, ensure};
use bwmon_user::board::{self, Board, Level};
use bwmon_user::bwmon::COUNT_MAX;
use bwmon_user::decide::{Rails, Unvoted};
use bwmon_user::governor::Governor;
use bwmon_user::policy::script::{ScriptPolicy, Source};
use bwmon_user::policy::{Mainline, Policy};
use bwmon_user::sample::{ProbeFacts, Reading, Sample, Window};
use bwmon_user::units::{Kbps, Nanos};
use std::sync::Arc;

/// The bench's board, where the agent finds it.
pub(crate) const BOARD: &str = "/board.toml";
/// The same machine, voted on through the project's kernel module.
pub(crate) const BOARD_VOTE: &str = "/board-vote.toml";
/// The script that ships.
pub(crate) const SCRIPT: &str = "/policies/bwmon.rhai";

/// What somebody makes of one interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) meas_kbps: u64,
    pub(crate) up_kbps: u64,
    pub(crate) down_kbps: u64,
    /// The peak vote in force afterwards.
    pub(crate) voted_kbps: u64,
}

/// The bench's board.
pub(crate) fn board() -> Result<Board> {
    let text = std::fs::read_to_string(BOARD).with_context(|| format!("read {BOARD}"))?;
    board::parse(BOARD, &text).map_err(|fault| anyhow!("{fault}"))
}

/// One governor per rule, all on the bench's board.
pub(crate) struct Rules {
    board: Arc<Board>,
    governors: Vec<(&'static str, Governor)>,
    tick: u64,
}

impl Rules {
    /// Loads the board and the rules as the agent does.
    pub(crate) fn load() -> Result<Self> {
        let board = board()?;
        let text = std::fs::read_to_string(SCRIPT).with_context(|| format!("read {SCRIPT}"))?;
        let script = ScriptPolicy::new(Source { name: SCRIPT.into(), text }, &board, &[])
            .map_err(|fault| anyhow!("{fault}"))?;
        let native = Mainline::new(&board);
        let board = Arc::new(board);
        let governors = vec![
            ("native", governor(&board, Box::new(native))?),
            ("bwmon.rhai", governor(&board, Box::new(script))?),
        ];
        Ok(Self { board, governors, tick: 0 })
    }

    /// The names of the rules.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.governors.iter().map(|(name, _)| *name).collect()
    }

    /// An error unless every rule answers `count` as the kernel did.
    pub(crate) fn must_choose(&mut self, count: u32, kernel: Answer) -> Result<()> {
        let sample = self.sample(count)?;
        for (name, governor) in &mut self.governors {
            let level = walk(governor, &sample).with_context(|| format!("{name} on {count}"))?;
            let ours = expected(&self.board, count, level)?;
            ensure!(ours == kernel, "count {count}: {name} says {ours:?}, the kernel {kernel:?}");
        }
        self.tick += 1;
        Ok(())
    }

    /// An interrupt as the agent sees it in shadow, but with our own arithmetic for the count.
    fn sample(&self, count: u32) -> Result<Sample> {
        let meas_kbps = measured(&self.board, count)?;
        let reading =
            Reading::Kernel { meas_kbps, up_kbps: Kbps(0), down_kbps: Kbps(0), updates: 1 };
        let at = |tick: u64| Nanos(tick * 4 * Nanos::PER_MS);
        Ok(Sample {
            tick: self.tick,
            window: Window { start_ns: at(self.tick), end_ns: at(self.tick + 1) },
            monitors: vec![reading],
            probes: ProbeFacts::default(),
        })
    }
}

fn governor(board: &Arc<Board>, policy: Box<dyn Policy>) -> Result<Governor> {
    let domain = board.domains.first().context("the board has no domain")?;
    let rails = vec![Rails::open(&domain.table, Unvoted::Nothing)];
    Ok(Governor::new(board.clone(), policy, rails, &[]))
}

/// One tick of the road; the level that it decides.
fn walk(governor: &mut Governor, sample: &Sample) -> Result<Level> {
    let tick = governor.tick(sample).first().context("no tick")?;
    ensure!(
        matches!(tick.origin, bwmon_user::governor::Origin::Policy),
        "the policy did not answer: {:?}",
        tick.origin
    );
    tick.decision.level.context("no level decided")
}

fn measured(board: &Board, count: u32) -> Result<Kbps> {
    let monitor = board.monitors.first().context("the board has no monitor")?;
    let count = u16::try_from(count).context("count")?.min(COUNT_MAX);
    Ok(monitor.scale.kbps(count))
}

/// What the driver should say if it chooses this level.
fn expected(board: &Board, count: u32, level: Level) -> Result<Answer> {
    let table = &board.domains.first().context("the board has no domain")?.table;
    let voted_kbps = table.kbps_of(level).0;
    let below = Level(level.0.saturating_sub(1));
    Ok(Answer {
        meas_kbps: measured(board, count)?.0,
        up_kbps: voted_kbps + 1,
        down_kbps: table.kbps_of(below).0,
        voted_kbps,
    })
}
