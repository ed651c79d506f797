//! Deserializers for fields that servers fill with whatever they like.
//!
//! "Every field optional and nullable": a wrong type reads as absent, so that one odd field never
//! costs a whole chunk of text. They look at the token stream directly, without building a tree.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Reads one JSON object. A repeated key stops the direct way; the way over a tree lets the last one
/// win, and JSON of a shape that cannot be read at all says nothing.
///
/// # Errors
///
/// The text is not JSON.
pub(crate) fn parse<T>(json: &str) -> Result<T, serde_json::Error>
where
    T: for<'de> Deserialize<'de> + Default,
{
    serde_json::from_str(json).or_else(|_| serde_json::from_str::<Value>(json).map(from_tree))
}

/// Reads a tree; one of a shape that cannot be read says nothing.
pub(crate) fn from_tree<T>(tree: Value) -> T
where
    T: for<'de> Deserialize<'de> + Default,
{
    serde_json::from_value(tree).unwrap_or_default()
}

/// Replaces each half of a surrogate pair that stands alone by the replacement character.
///
/// Servers that escape everything beyond ASCII cut a pair between two pieces; a JSON text cannot hold
/// a half, and one character is no reason to lose a stream.
pub(crate) fn mend_surrogates(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(unit) = escaped_unit(rest) else {
            // Another escape: both of its characters, so that `\\\\u` is not taken for one.
            let end = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        };
        let pair = (0xD800..0xDC00).contains(&unit)
            && escaped_unit(&rest[6..]).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        let len = if pair { 12 } else { 6 };
        if !pair && (0xD800..0xE000).contains(&unit) {
            out.push('\u{fffd}');
        } else {
            out.push_str(&rest[..len]);
        }
        rest = &rest[len..];
    }
    out.push_str(rest);
    out
}

/// The UTF-16 unit of a `\uXXXX` at the start of `text`.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

struct Scalar<T>(PhantomData<T>);

/// What a scalar token may become.
trait FromScalar: Sized {
    fn from_str(_: &str) -> Option<Self> {
        None
    }
    fn from_i64(_: i64) -> Option<Self> {
        None
    }
    fn from_f64(_: f64) -> Option<Self> {
        None
    }
}

/// An empty string counts as absent.
impl FromScalar for String {
    fn from_str(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl FromScalar for i64 {
    fn from_i64(number: i64) -> Option<Self> {
        Some(number)
    }
    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers pass")]
    fn from_f64(number: f64) -> Option<Self> {
        (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
    }
}

impl FromScalar for u64 {
    fn from_i64(number: i64) -> Option<Self> {
        number.try_into().ok()
    }
    fn from_f64(number: f64) -> Option<Self> {
        i64::from_f64(number).and_then(|number| number.try_into().ok())
    }
}

impl<'de, T: FromScalar> Visitor<'de> for Scalar<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_str(text))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(T::from_i64(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).ok().and_then(T::from_i64))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(T::from_f64(number))
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A string that is not empty.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    from.deserialize_any(Scalar(PhantomData))
}

/// A whole number, also when it is written as `3.0`.
pub(crate) fn int<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(Scalar(PhantomData))
}

/// A whole number that is not negative.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    from.deserialize_any(Scalar(PhantomData))
}

/// Whether it is `true`.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Value::deserialize(from).map(|value| value == Value::Bool(true))
}

/// A list of strings; what is none in it is left out, and anything but a list is an empty one.
pub(crate) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Array(list) => {
            let words = list.into_iter().filter_map(|word| match word {
                Value::String(word) => Some(word),
                _ => None,
            });
            words.collect()
        }
        _ => Vec::new(),
    })
}

/// A string as it is, or the JSON text of anything else; `null` and `""` are absent.
pub(crate) fn raw_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then_some(text),
        other => Some(other.to_string()),
    })
}

/// An object of the expected shape; anything else is absent.
pub(crate) fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Maybe::deserialize(from).map(|maybe| maybe.0)
}

struct Maybe<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Object(PhantomData)).map(Self)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or nothing")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
}

struct List<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list, or nothing")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element::<Maybe<T>>()? {
            list.extend(item.0);
        }
        Ok(list)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Vec::new())
    }
}

/// A list of objects; what is no object in it is left out, and anything but a list is an empty one.
pub(crate) fn list<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_any(List(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        let cases = [
            (r#"{"a":"\ud83d"}"#, "{\"a\":\"\u{fffd}\"}"),
            (r#"{"a":"\uDC00x"}"#, "{\"a\":\"\u{fffd}x\"}"),
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (
                r#"{"a":"\ud83d\ud83d\ude00"}"#,
                "{\"a\":\"\u{fffd}\\ud83d\\ude00\"}",
            ),
            (r#"{"a":"\\ud83d é \n"}"#, r#"{"a":"\\ud83d é \n"}"#),
            (r#"{"a":"\u12"}"#, r#"{"a":"\u12"}"#),
            (r"\", r"\"),
        ];
        for (input, expected) in cases {
            assert_eq!(mend_surrogates(input), expected, "{input}");
        }
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        #[derive(Debug, Default, PartialEq, Deserialize)]
        #[serde(default)]
        struct Named {
            #[serde(deserialize_with = "text")]
            name: Option<String>,
        }
        let named = |json: &str| parse::<Named>(json).map(|named| named.name);
        assert_eq!(
            named(r#"{"name":"a","name":"b"}"#).ok(),
            Some(Some("b".to_owned()))
        );
        assert_eq!(named("7").ok(), Some(None));
        assert!(named("{").is_err());
    }
}
