//! Ways back to an earlier bundle.

use super::durable;
use super::rolled::Rolled;
use super::state::{Id, Standing, State};
use super::store::Store;
use super::terms::{StoreError, io};

impl Store {
    /// Notes that the bundle `id` does not work, so that it is not tried again, and goes back to the
    /// last good one if `id` counts; what counts else is left alone. The answer is `None` then.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn failed(&self, id: &Id, why: &str) -> Result<Option<Rolled>, StoreError> {
        let _lock = self.lock()?;
        let mut state = self.state()?;
        if self.link()?.as_ref() == Some(id) {
            return self.give_up(&mut state, id, why).map(Some);
        }
        state.bundles.entry(id.clone()).or_default().standing = failed(why);
        state.not_good(id);
        self.save(&state)?;
        Ok(None)
    }

    /// Goes back from the bundle that counts where its files are not those of its manifest, so that a
    /// machine whose disk was hurt governs with what is whole. `None` where nothing is damaged. The
    /// damaged one may be installed again, and has to prove itself again.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn leave_damaged(&self) -> Result<Option<Rolled>, StoreError> {
        let Err(StoreError::Damaged { .. }) = self.current() else { return Ok(None) };
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let Some(id) = self.counts(&state)? else { return Ok(None) };
        // Somebody may have installed it again meanwhile.
        let Err(StoreError::Damaged { why, .. }) = self.read(&state, &id) else { return Ok(None) };
        state.bundles.entry(id.clone()).or_default().standing = Standing::default();
        state.not_good(&id);
        self.noted_and_left(&mut state, &id, format!("it is damaged: {why}")).map(Some)
    }

    /// Goes back to the last bundle that has proven itself, else to the one before, because somebody
    /// wants it: the current one may be installed again. `None` if no bundle is installed.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn rollback(&self) -> Result<Option<Rolled>, StoreError> {
        if self.link()?.is_none() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let Some(id) = self.link()? else { return Ok(None) };
        let record = state.bundles.entry(id.clone()).or_default();
        if record.standing.may_run() {
            record.standing = Standing::RolledBack;
        }
        state.not_good(&id);
        self.noted_and_left(&mut state, &id, "by hand".into()).map(Some)
    }

    /// Gives the bundle `id` up for good and goes back.
    pub(super) fn give_up(
        &self,
        state: &mut State,
        id: &Id,
        why: &str,
    ) -> Result<Rolled, StoreError> {
        state.bundles.entry(id.clone()).or_default().standing = failed(why);
        state.not_good(id);
        self.noted_and_left(state, id, why.to_owned())
    }

    /// Writes what is known and goes back from `id`. The link is the truth about what counts: on a disk
    /// that has no room for the former it is swapped all the same.
    fn noted_and_left(
        &self,
        state: &mut State,
        id: &Id,
        why: String,
    ) -> Result<Rolled, StoreError> {
        let saved = self.save(state);
        self.leave(state, id, why).map_err(|error| saved.err().unwrap_or(error))
    }

    /// Lets the last good bundle count in the place of `from`.
    pub(super) fn leave(
        &self,
        state: &mut State,
        from: &Id,
        why: String,
    ) -> Result<Rolled, StoreError> {
        // A good one that is damaged is not good any more.
        while let Some(id) = state.last_good(Some(from)).cloned() {
            if self.read(state, &id).is_ok() {
                self.relink(&id)?;
                return Ok(Rolled { from: from.clone(), to: Some(id), why });
            }
            state.not_good(&id);
        }
        let link = self.link_path();
        durable::forget(&link).map_err(io("remove", &link))?;
        durable::sync_folder(&self.dir).map_err(io("sync", &self.dir))?;
        Ok(Rolled { from: from.clone(), to: None, why })
    }
}

fn failed(why: &str) -> Standing {
    Standing::Failed { why: why.chars().map(crate::diag::printable).take(400).collect() }
}
