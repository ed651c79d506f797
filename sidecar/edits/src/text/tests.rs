//! Decoding and line endings by tables.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

#[test]
fn decoding_names_the_byte_and_its_offset() {
    let err = decode(b"rate = 1\n# caf\xE9 menu\n").unwrap_err();
    assert_eq!(err.to_string(), "not UTF-8 (byte 0xE9 at offset 14)");
    assert_eq!(err.code(), "ENCODING");
    assert_eq!(decode(b"a\0b").unwrap_err().code(), "NOT_TEXT");
    let err = decode_with_limit(b"abcd", 3).unwrap_err();
    assert_eq!(err.to_string(), "4 bytes, more than the limit of 3");
}

#[test]
fn one_byte_order_mark_is_taken_off() {
    let decoded = decode("\u{FEFF}\u{FEFF}a".as_bytes()).unwrap();
    assert_eq!((decoded.text.as_str(), decoded.bom), ("\u{FEFF}a", true));
    assert_eq!(
        decode(b"").unwrap(),
        Decoded {
            text: String::new(),
            bom: false
        }
    );
}

#[test]
fn text_revision_ignores_the_mark_and_the_line_ending_kind() {
    assert_eq!(text_revision("\u{FEFF}a\r\nb"), text_revision("a\nb"));
    assert_ne!(text_revision("a\rb"), text_revision("a\nb"));
    assert_ne!(text_revision("a\r\r\n"), text_revision("a\n"));
    assert_eq!(text_revision("a\nb"), revision(b"a\nb"));
}

#[test]
fn replacement_takes_the_endings_of_what_it_replaces() {
    let cases = [
        // replacement, removed, before, after, expected
        ("x\ny\n", "a\r\n", "", "", "x\r\ny\r\n"),
        ("x\ny\nz\n", "a\nb\r\n", "", "", "x\ny\r\nz\r\n"),
        ("x\n", "", "p\r\n", "n\n", "x\r\n"),
        ("x\n", "", "", "n\r\n", "x\r\n"),
        ("x\n", "", "", "", "x\n"),
        ("x\r\ny\r\n", "a\n", "", "", "x\ny\n"),
        ("x\ry\n", "a\r\n", "", "", "x\ry\r\n"),
        ("x", "a\r\n", "", "", "x"),
        ("x\ny", "a", "p\r\n", "", "x\r\ny"),
        ("", "a\r\n", "", "", ""),
    ];
    for (replacement, removed, before, after, expected) in cases {
        assert_eq!(
            adapt_line_endings(replacement, removed, before, after),
            expected,
            "{replacement:?} for {removed:?}"
        );
    }
}

proptest! {
    #[test]
    fn decoding_is_total(bytes: Vec<u8>) {
        if let Ok(decoded) = decode(&bytes) {
            let mut again = if decoded.bom { BOM.to_string() } else { String::new() };
            again.push_str(&decoded.text);
            prop_assert_eq!(again.as_bytes(), &bytes[..]);
        }
    }

    #[test]
    fn adapting_changes_endings_only(
        replacement in "[ab\r\n]{0,20}", removed in "[ab\r\n]{0,20}", around in "[ab\r\n]{0,6}"
    ) {
        // A CR before a CRLF is data that an LF file cannot tell from an ending.
        let replacement = replacement.replace("\r\r", "a");
        let adapted = adapt_line_endings(&replacement, &removed, &around, &around);
        prop_assert_eq!(
            normalize_line_endings(&adapted), normalize_line_endings(&replacement)
        );
    }
}
