/** Where the `redline` binary may lie. Pure but for the two questions that are handed in. */

export interface Surroundings {
  /** The setting; empty when it is not set. */
  readonly setting: string;
  readonly path: string;
  readonly home: string;
  /** The extension's own folder: a platform's package may bring a binary along. */
  readonly extension: string;
  readonly platform: NodeJS.Platform;
}

/** The paths that are tried, best first; a setting is taken alone, so that nothing else runs in its place. */
export function candidates(around: Surroundings): string[] {
  const windows = around.platform === "win32";
  const name = windows ? "redline.exe" : "redline";
  const join = (folder: string): string => `${folder.replace(/[\\/]+$/, "")}${windows ? "\\" : "/"}${name}`;
  if (around.setting !== "") {
    return [around.setting.replace(/^~(?=[\\/])/, around.home)];
  }
  // A relative entry of PATH would lead into the opened project.
  const absolute = (folder: string): boolean => (windows ? /^([a-z]:)?[\\/]/i.test(folder) : folder.startsWith("/"));
  const folders = around.path.split(windows ? ";" : ":").filter(absolute);
  return [
    ...folders.map(join),
    join(`${around.home}${windows ? "\\.cargo\\bin" : "/.cargo/bin"}`),
    join(`${around.extension}${windows ? "\\server" : "/server"}`),
  ];
}

/** The first candidate that is an executable file. */
export function find(around: Surroundings, isExecutable: (path: string) => boolean): string | undefined {
  return candidates(around).find(isExecutable);
}
