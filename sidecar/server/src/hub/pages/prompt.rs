//! The prompt file: what stands in it at first, and what of it is the prompt.
//!
//! Must not know: who has it open, or how a prompt is sent.

/// The zero-based line where the user's text begins.
pub(super) const FIRST_LINE: u32 = 2;

const OPENING: &str = "<!--";
const CLOSING: &str = "-->";

/// The page before anything is written.
pub(super) fn template() -> String {
    format!(
        "{OPENING} Say below what you want to be changed, then save: that sends it. It is about the file\n\
         you opened or typed in last. What the agent proposes waits for your review. {CLOSING}\n\n"
    )
}

/// The prompt in a page: all but its first comment, trimmed.
pub(super) fn read(page: &str) -> String {
    let page = page.trim();
    let said = match page.strip_prefix(OPENING) {
        Some(rest) => rest.split_once(CLOSING).map_or("", |(_, said)| said),
        None => page,
    };
    said.trim().to_owned()
}

/// What the page is to read when it is opened: what was written and not `sent` stays.
pub(super) fn kept(page: &str, sent: Option<&str>) -> String {
    let said = read(page);
    if said.is_empty() || sent == Some(said.as_str()) {
        template()
    } else {
        page.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_is_no_part_of_the_prompt() {
        assert_eq!(read(&template()), "");
        assert_eq!(
            read(&format!("{}\nfix it\n\nsoon\n", template())),
            "fix it\n\nsoon"
        );
        assert_eq!(read("just this\n"), "just this");
        assert_eq!(read("<!-- broken"), "");
        let first = template().lines().count();
        assert_eq!(u32::try_from(first), Ok(FIRST_LINE + 1));
    }

    #[test]
    fn what_was_not_sent_stays() {
        let page = format!("{}half a tho", template());
        assert_eq!(kept(&page, None), page);
        assert_eq!(kept(&page, Some("half a tho")), template());
        assert_eq!(kept("", None), template());
    }
}
