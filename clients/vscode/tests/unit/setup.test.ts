import assert from "node:assert/strict";
import { test } from "node:test";
import { type Surroundings, candidates, find } from "../../src/binary.ts";
import { isVariableName, sidecarEnv } from "../../src/environment.ts";

const AROUND: Surroundings = {
  setting: "",
  path: "/usr/bin:.:relative/bin:/opt/bin/",
  home: "/home/me",
  extension: "/ext",
  platform: "linux",
};

test("the binary is looked for on PATH, then where cargo installs, then in the extension", () => {
  assert.deepEqual(candidates(AROUND), [
    "/usr/bin/redline",
    "/opt/bin/redline",
    "/home/me/.cargo/bin/redline",
    "/ext/server/redline",
  ]);
  assert.equal(find(AROUND, (path) => path.startsWith("/home")), "/home/me/.cargo/bin/redline");
});

test("a setting is taken alone, and nothing of the project is ever tried", () => {
  assert.deepEqual(candidates({ ...AROUND, setting: "~/bin/redline" }), ["/home/me/bin/redline"]);
  assert.equal(find({ ...AROUND, setting: "/none" }, (path) => path !== "/none"), undefined);
  assert.ok(candidates(AROUND).every((path) => path.startsWith("/")));
});

test("on Windows the binary has its ending", () => {
  const around: Surroundings = { ...AROUND, platform: "win32", path: "C:\\bin;bin", home: "C:\\me", extension: "C:\\ext" };
  assert.deepEqual(candidates(around), ["C:\\bin\\redline.exe", "C:\\me\\.cargo\\bin\\redline.exe", "C:\\ext\\server\\redline.exe"]);
});

test("the sidecar gets the user's variables and the keys, and none of the editor's own", () => {
  const env = { PATH: "/bin", VSCODE_PID: "1", ELECTRON_RUN_AS_NODE: "1", EMPTY: undefined };
  assert.deepEqual(sidecarEnv(env, { SOME_KEY: "secret" }), { PATH: "/bin", SOME_KEY: "secret" });
  assert.deepEqual([isVariableName("MY_KEY2"), isVariableName("2X"), isVariableName("A=B")], [true, false, false]);
});
