/** The environment that the sidecar is started with. Pure. */

type Variables = Record<string, string>;

/** Variables of the editor's own processes, which mean nothing to a program of the user's. */
const EDITORS_OWN = /^(VSCODE_|ELECTRON_|CHROME_|ORIGINAL_XDG_|APPLICATION_INSIGHTS_|NODE_OPTIONS$|GDK_PIXBUF_)/;

/** What `redline lsp` is started with. The sidecar reads keys from it, and hands commands none of them. */
export function sidecarEnv(env: Readonly<Record<string, string | undefined>>, keys: Readonly<Variables>): Variables {
  const users = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && !EDITORS_OWN.test(pair[0]));
  return { ...Object.fromEntries(users), ...keys };
}

/** Whether a name can be one of an environment variable. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}
