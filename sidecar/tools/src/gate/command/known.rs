//! All that is known of a program by its name, in one look-up.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::options::{PROGRAMS, Program, RUNNERS};
use super::{class, inner};
use crate::Class;

/// What is known of one program.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Known {
    /// Its purpose is to run others.
    pub(super) is_runner: bool,
    /// Its options.
    pub(super) options: Option<&'static Program>,
    /// How far it reaches by what it is for.
    pub(super) class: Option<Class>,
    /// How the command that it runs is found in its arguments.
    pub(super) wraps: Option<&'static inner::Wrapper>,
    /// It takes scripts.
    pub(super) is_shell: bool,
}

/// What is known of the program of that name, without its folder.
pub(super) fn known(name: &str) -> Known {
    static BY_NAME: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(collect);
    // Longer than any: not worth hashing.
    match name.len() <= 32 {
        true => BY_NAME.get(name).copied().unwrap_or_default(),
        false => Known::default(),
    }
}

fn collect() -> HashMap<&'static str, Known> {
    let mut all: HashMap<&'static str, Known> = HashMap::new();
    for program in PROGRAMS {
        for name in program.names {
            all.entry(name).or_default().options = Some(program);
        }
    }
    for name in RUNNERS {
        all.entry(name).or_default().is_runner = true;
    }
    for (name, class) in class::by_purpose() {
        all.entry(name).or_default().class = Some(class);
    }
    for wrapper in inner::WRAPPERS {
        all.entry(wrapper.0).or_default().wraps = Some(wrapper);
    }
    for name in inner::SHELLS {
        all.entry(name).or_default().is_shell = true;
    }
    all
}
