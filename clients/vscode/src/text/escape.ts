/** Making foreign text safe for the places where VS Code reads markup. Pure. */

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML text. */
export function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML[character] ?? character);
}

/** Text as markdown text that means itself, on one line: also links, images, icons and HTML. */
export function markdown(text: string): string {
  return oneLine(text).replace(/[\\`*_{}[\]()#+\-.!|<>~$&:@/]/g, (character) =>
    /[&<>]/.test(character) ? (HTML[character] ?? character) : `\\${character}`,
  );
}

/** White space of any kind becomes single blanks; what cannot be seen or turns the direction of text becomes `·`. */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}

/**
 * Replaces what a reader would not see: control characters, zero-width ones and those that change the direction of
 * text, since they let code or a command look like another.
 */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "·");
}

/** An argument vector as a shell would need it quoted: for reading, never for running. */
export function command(argv: readonly string[]): string {
  return argv
    .map((word) => {
      const shown = visible(word);
      return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replace(/\n/g, "\\n").replace(/'/g, "'\\''")}'`;
    })
    .join(" ");
}

/** At most `max` characters, with `…` where something is left out. */
export function short(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join("")}…`;
}
