import assert from "node:assert/strict";
import { test } from "node:test";
import { type PlacedHunk, compose, readBack, regionOf } from "../../src/text/compose.ts";

const hunk = (id: string, first: number, last: number, removed: string[], added: string[]): PlacedHunk => ({
  id,
  rows: { first, last },
  removed,
  added,
  noNewlineAtEnd: false,
});

const TEXT = "one\ntwo\nthree\nfour\nfive\n";
const CHANGE = hunk("change", 1, 2, ["two"], ["TWO", "and a half"]);
const INSERTION = hunk("insertion", 3, 3, [], ["inserted"]);
const REMOVAL = hunk("removal", 4, 5, ["five"], []);
const ALL = [REMOVAL, CHANGE, INSERTION];

test("hunks are put into the text, by place", () => {
  assert.equal(compose(TEXT, ALL).text, "one\nTWO\nand a half\nthree\ninserted\nfour\n");
  assert.equal(compose(TEXT, []).text, TEXT);
});

test("line endings and a missing last one stay as they are", () => {
  assert.equal(compose("one\r\ntwo\r\n", [hunk("h", 1, 2, ["two"], ["2"])]).text, "one\r\n2\r\n");
  assert.equal(compose("one\ntwo", [hunk("h", 0, 1, ["one"], ["1"])]).text, "1\ntwo");
  const last = { ...hunk("h", 1, 2, ["two"], ["2"]), noNewlineAtEnd: true };
  assert.equal(compose("one\ntwo\n", [last]).text, "one\n2");
  assert.equal(compose("", [hunk("h", 0, 0, [], ["first"])]).text, "first\n");
  assert.equal(compose("gone\n", [hunk("h", 0, 1, ["gone"], [])]).text, "");
});

test("lines put back mean that the hunk is rejected", () => {
  for (const each of ALL) {
    const before = compose(TEXT, ALL);
    const without = compose(TEXT, ALL.filter((other) => other !== each));
    assert.deepEqual(readBack(before, without.text), { rejected: [each.id], amended: [], outside: false }, each.id);
  }
  assert.deepEqual(readBack(compose(TEXT, ALL), TEXT).rejected, ["change", "insertion", "removal"]);
});

test("a removal among equal lines is known again when it is put back", () => {
  const text = "a\n}\n\n}\n\nb\n";
  const removal = hunk("removal", 3, 5, ["}", ""], []);
  assert.deepEqual(readBack(compose(text, [removal]), text).rejected, ["removal"]);
});

test("other lines in a hunk are an amendment, lines elsewhere are outside", () => {
  const before = compose(TEXT, ALL);
  assert.deepEqual(readBack(before, before.text.replace("TWO\n", "Two\nmore\n")), {
    rejected: [],
    amended: [{ id: "change", added: ["Two", "more", "and a half"] }],
    outside: false,
  });
  assert.equal(readBack(before, before.text.replace("four", "FOUR")).outside, true);
  assert.deepEqual(readBack(before, before.text), { rejected: [], amended: [], outside: false });
});

test("the lines of a region are found when nothing else changed", () => {
  const rows = { first: 1, last: 3 };
  assert.deepEqual(regionOf(TEXT, "one\nmerged\nfour\nfive\n", rows), ["merged"]);
  assert.deepEqual(regionOf(TEXT, "one\nfour\nfive\n", rows), []);
  assert.equal(regionOf(TEXT, "ONE\nmerged\nfour\nfive\n", rows), undefined);
});
