//! Positions in three encodings, beside an oracle that counts by itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// Every place of `text` by walking it: an oracle that shares no code with the conversion.
fn places(text: &str, encoding: Encoding) -> Vec<(usize, LineCol)> {
    let mut places = Vec::new();
    let (mut line, mut column) = (0, 0);
    let mut rest = text.char_indices().peekable();
    while let Some((byte, c)) = rest.next() {
        places.push((byte, LineCol::new(line, column)));
        let crlf = c == '\r' && matches!(rest.peek(), Some((_, '\n')));
        if crlf {
            rest.next();
        }
        if c == '\n' || c == '\r' {
            (line, column) = (line + 1, 0);
            continue;
        }
        column += match encoding {
            Encoding::Utf8 => c.to_string().len() as u32,
            Encoding::Utf16 => c.to_string().encode_utf16().count() as u32,
            Encoding::Utf32 => 1,
        };
    }
    places.push((text.len(), LineCol::new(line, column)));
    places
}

#[test]
fn lines_end_at_lf_crlf_and_a_lone_cr_and_nowhere_else() {
    assert_eq!(Rope::from_str("a\u{2028}b").len_lines(), 1);
    assert_eq!(
        Rope::from_str("a\u{85}b\u{B}c\u{C}d\u{2029}e").len_lines(),
        1
    );
    assert_eq!(Rope::from_str("a\rb\r\nc\nd").len_lines(), 4);
    let rope = Rope::from_str("a\rb\r\nc");
    assert_eq!(to_byte(&rope, LineCol::new(1, 0), Encoding::Utf16), 2);
    assert_eq!(to_line_col(&rope, 4, Encoding::Utf16), LineCol::new(1, 1));
}

#[test]
fn editor_positions_clamp_and_round() {
    let rope = Rope::from_str("x🦀y\r\nz");
    let at = |line, character| to_byte(&rope, LineCol::new(line, character), Encoding::Utf16);
    assert_eq!(at(0, 2), 1, "inside the pair is its start");
    assert_eq!(at(0, 99), 6, "beyond the line is before its ending");
    assert_eq!(at(9, 0), 9, "beyond the text is its end");
    assert_eq!(at(u32::MAX, u32::MAX), 9);
    let at = |line, character| to_byte(&rope, LineCol::new(line, character), Encoding::Utf8);
    assert_eq!(at(0, 3), 1);
}

#[test]
fn proposed_positions_must_exist() {
    let rope = Rope::from_str("x = \"🦀\"\ny = \"é\"\n");
    let fail = |line, character, encoding| {
        let err = to_byte_strict(&rope, LineCol::new(line, character), encoding).unwrap_err();
        (err.code(), err.to_string())
    };
    assert_eq!(
        fail(0, 6, Encoding::Utf16),
        (
            "INVALID_POSITION",
            "position 0:6 (utf-16) is inside the character '🦀'".to_owned()
        )
    );
    assert_eq!(fail(1, 6, Encoding::Utf8).0, "INVALID_POSITION");
    assert_eq!(
        fail(3, 0, Encoding::Utf16),
        (
            "OUT_OF_RANGE",
            "position 3:0 is out of range: the text has 3 lines, 0 to 2".to_owned()
        )
    );
    assert_eq!(
        fail(0, 9, Encoding::Utf32),
        (
            "OUT_OF_RANGE",
            "position 0:9 (utf-32) is out of range: line 0 has 7 columns".to_owned()
        )
    );
    assert_eq!(
        to_byte_strict(&rope, LineCol::new(2, 0), Encoding::Utf16),
        Ok(20)
    );
    let empty = Rope::from_str("");
    assert_eq!(
        to_byte_strict(&empty, LineCol::new(0, 0), Encoding::Utf8),
        Ok(0)
    );
}

proptest! {
    #[test]
    fn positions_round_trip_in_every_encoding(text in "[a é漢🦀\u{301}\u{2028}\u{C}\t\r\n]{0,40}") {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            for (byte, at) in places(&text, encoding) {
                prop_assert_eq!(to_byte(&rope, at, encoding), byte);
                prop_assert_eq!(to_byte_strict(&rope, at, encoding), Ok(byte));
                prop_assert_eq!(to_line_col(&rope, byte, encoding), at);
            }
        }
    }

    #[test]
    fn any_position_and_any_byte_give_a_place(
        text in "[aé🦀\r\n]{0,20}", line in 0..30u32, character: u32, byte in 0..200usize
    ) {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            let places = places(&text, encoding);
            for character in [character, character % 8] {
                let at = LineCol::new(line, character);
                let clamped = to_byte(&rope, at, encoding);
                prop_assert!(places.iter().any(|(byte, _)| *byte == clamped));
                let strict = to_byte_strict(&rope, at, encoding).ok();
                let expected = places.iter().find(|(_, place)| *place == at).map(|(byte, _)| *byte);
                prop_assert_eq!(strict, expected);
            }
            let at = to_line_col(&rope, byte, encoding);
            prop_assert!(places.iter().any(|(_, place)| *place == at));
        }
    }
}
