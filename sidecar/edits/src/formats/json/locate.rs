//! Finds the line of a value in a JSON text, for an error message.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::value::Step;

/// The line, from 1, at which the value at the end of `way` begins; as far as it can be followed.
pub(super) fn line_of(text: &str, way: &[Step]) -> usize {
    let mut at = text;
    for step in way {
        let inside = match step {
            Step::Index(idx) => serde_json::from_str::<Vec<&RawValue>>(at)
                .ok()
                .and_then(|values| values.get(*idx).map(|value| value.get())),
            Step::Key(_) | Step::Field(_) => {
                serde_json::from_str::<BTreeMap<String, &RawValue>>(at)
                    .ok()
                    .and_then(|values| {
                        values
                            .get(step.as_key().unwrap_or_default())
                            .map(|value| value.get())
                    })
            }
        };
        match inside {
            Some(inside) => at = inside,
            None => break,
        }
    }
    // `at` is a part of `text`, so the difference of their addresses is its offset.
    let offset = (at.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..offset).unwrap_or_default();
    1 + before.matches('\n').count()
}
