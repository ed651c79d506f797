/** Environments: the sidecar's, and the one that commands of a session run in. Pure. */

type Variables = Record<string, string>;

/** Variables of the editor's own processes, which mean nothing to a program of the user's. */
const EDITORS_OWN = /^(VSCODE_|ELECTRON_|CHROME_|ORIGINAL_XDG_|APPLICATION_INSIGHTS_|NODE_OPTIONS$|GDK_PIXBUF_)/;

function defined(env: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function withoutOwn(env: Readonly<Record<string, string | undefined>>): Variables {
  return Object.fromEntries(Object.entries(defined(env)).filter(([name]) => !EDITORS_OWN.test(name)));
}

/** What `redline lsp` is started with: from it the sidecar reads keys. */
export function sidecarEnv(env: Readonly<Record<string, string | undefined>>, keys: Readonly<Variables>): Variables {
  return { ...withoutOwn(env), ...keys };
}

/** What commands of a session run in: no key that the editor keeps as a secret. */
export function sessionEnv(env: Readonly<Record<string, string | undefined>>): Variables {
  return withoutOwn(env);
}

/** Whether a name can be one of an environment variable. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}
