//! Writes that fail or go elsewhere, for tests: they run as root on plain files, which refuse nothing.

use std::cell::RefCell;
use std::io;
use std::path::Path;

type Hook = Box<dyn FnMut(&Path, &str) -> Option<io::Result<()>>>;

thread_local! {
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// Asks `hook` before each write of this thread: `None` lets it through, else this is its outcome.
pub(super) fn on_write(hook: impl FnMut(&Path, &str) -> Option<io::Result<()>> + 'static) {
    HOOK.with(|slot| *slot.borrow_mut() = Some(Box::new(hook)));
}

/// No more hook.
pub(super) fn none() {
    HOOK.with(|slot| *slot.borrow_mut() = None);
}

pub(super) fn outcome(path: &Path, text: &str) -> Option<io::Result<()>> {
    HOOK.with(|slot| slot.borrow_mut().as_mut().and_then(|hook| hook(path, text)))
}
