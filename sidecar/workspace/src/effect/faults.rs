//! The seam at which tests make effects fail. In production it is one comparison with `None`.

use std::io;
use std::sync::{Mutex, PoisonError};

/// What is about to happen to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Bytes are written for a file.
    Write,
    /// A file's bytes, or a folder's names, are awaited on the disk.
    Fsync,
    /// A file gets its name.
    Rename,
    /// A file or folder goes.
    Remove,
}

/// Decides before each effect whether it fails.
pub trait Faults: Send + Sync {
    /// `path` is the file that the effect is for, relative to the workspace root (`.agentic/…` for the
    /// store, `""` for the root's own names): the target, not the temporary name.
    ///
    /// # Errors
    ///
    /// The error that the effect is to have; the effect then does not happen.
    fn before(&self, effect: Effect, path: &str) -> io::Result<()>;
}

/// A list of failures, each for the nth time (from 1) that an effect meets a path.
#[derive(Debug, Default)]
pub struct FaultPlan {
    faults: Mutex<Vec<Fault>>,
}

#[derive(Debug)]
struct Fault {
    effect: Effect,
    path: String,
    left: u32,
    errno: i32,
}

impl FaultPlan {
    /// A plan in which nothing fails.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds: the `nth` (from 1) `effect` on `path` fails with `errno`.
    pub fn fail(&self, effect: Effect, path: &str, nth: u32, errno: i32) {
        let fault = Fault {
            effect,
            path: path.to_owned(),
            left: nth.max(1),
            errno,
        };
        self.faults
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(fault);
    }
}

impl Faults for FaultPlan {
    fn before(&self, effect: Effect, path: &str) -> io::Result<()> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in faults
            .iter_mut()
            .filter(|fault| fault.effect == effect && fault.path == path)
        {
            fault.left = fault.left.saturating_sub(1);
            if fault.left == 0 {
                let errno = fault.errno;
                // Spent: it fails once.
                fault.path = "\0".into();
                return Err(io::Error::from_raw_os_error(errno));
            }
        }
        Ok(())
    }
}
