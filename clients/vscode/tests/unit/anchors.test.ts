import assert from "node:assert/strict";
import { test } from "node:test";
import { Anchors, type Rows, home, lineChange, moved } from "../../src/text/anchors.ts";

const change = (first: number, last: number, newLast: number, version = 2) => ({ version, first, last, newLast });

const at = (startLine: number, startCharacter: number, endLine: number, endCharacter: number, text: string) => ({
  range: { start: { line: startLine, character: startCharacter }, end: { line: endLine, character: endCharacter } },
  text,
});

test("a change of text names the lines that it replaces", () => {
  const cases: [ReturnType<typeof at>, [number, number, number]][] = [
    [at(3, 2, 3, 2, "x"), [3, 4, 4]],
    [at(3, 0, 3, 0, "new\n"), [3, 3, 4]],
    [at(3, 0, 5, 0, ""), [3, 5, 3]],
    [at(3, 0, 5, 0, "one\n"), [3, 5, 4]],
    [at(3, 4, 3, 4, "\n"), [3, 4, 5]],
    [at(3, 4, 5, 1, ""), [3, 6, 4]],
  ];
  for (const [event, [first, last, newLast]] of cases) {
    assert.deepEqual(lineChange(event, 2), change(first, last, newLast), JSON.stringify(event));
  }
});

test("rows move with what changes above them and stay for what changes below", () => {
  const cases: [Rows, ReturnType<typeof change>, Rows][] = [
    [{ first: 5, last: 7 }, change(0, 0, 2), { first: 7, last: 9 }],
    [{ first: 5, last: 7 }, change(1, 4, 1), { first: 2, last: 4 }],
    [{ first: 5, last: 7 }, change(7, 9, 8), { first: 5, last: 7 }],
    [{ first: 5, last: 5 }, change(5, 5, 6), { first: 6, last: 6 }],
    [{ first: 5, last: 7 }, change(6, 7, 8), { first: 5, last: 8 }],
    [{ first: 5, last: 7 }, change(4, 9, 4), { first: 4, last: 4 }],
  ];
  for (const [rows, by, expected] of cases) {
    assert.deepEqual(moved(rows, by), expected, JSON.stringify({ rows, by }));
  }
});

test("a list for an older text is moved by the changes since", () => {
  const anchors = new Anchors<string>();
  anchors.push(change(0, 0, 1, 2));
  anchors.push(change(0, 0, 1, 3));
  anchors.set(["a", "b"], [{ first: 4, last: 5 }, { first: 9, last: 9 }], 2);
  anchors.push(change(6, 7, 6, 4));
  assert.deepEqual(anchors.placed(), [
    { item: "a", rows: { first: 5, last: 6 } },
    { item: "b", rows: { first: 9, last: 9 } },
  ]);
});

test("rows are the same whether changes are folded in one by one or together", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const rows = Array.from({ length: 50 }, (_, index) => ({ first: index * 10, last: index * 10 + random(4) }));
  const together = new Anchors<number>();
  const single = new Anchors<number>();
  for (const anchors of [together, single]) {
    anchors.set(rows.map((_, index) => index), rows, 1);
  }
  for (let version = 2; version < 6000; version++) {
    const first = random(600);
    const last = first + random(3);
    const by = change(first, last, first + random(3), version);
    together.push(by);
    single.push(by);
    single.placed();
  }
  assert.deepEqual(together.placed(), single.placed());
});

test("an insertion touches the lines on both its sides", () => {
  const anchors = new Anchors<string>();
  anchors.set(["insertion", "lines"], [{ first: 4, last: 4 }, { first: 8, last: 10 }], 1);
  const found = (first: number, last: number): string[] => anchors.within(first, last).map(({ item }) => item);
  assert.deepEqual([found(3, 4), found(4, 5), found(5, 8), found(9, 10), found(10, 11)], [
    ["insertion"],
    ["insertion"],
    [],
    ["lines"],
    [],
  ]);
  assert.deepEqual([home({ first: 4, last: 4 }), home({ first: 0, last: 0 }), home({ first: 8, last: 10 })], [3, 0, 8]);
});
