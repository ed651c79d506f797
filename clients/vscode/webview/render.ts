/** From a markdown tree to elements. Text stays text: nothing is ever read as HTML. */

import type { Block, Inline, ListItem } from "./markdown.ts";

export interface Actions {
  link(url: string): void;
  copy(text: string): void;
}

/** Makes an element with a class, text and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: { class?: string; text?: string } = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (options.class !== undefined) {
    made.className = options.class;
  }
  if (options.text !== undefined) {
    made.textContent = options.text;
  }
  made.append(...children);
  return made;
}

export function button(label: string, title: string, run: () => void, name = ""): HTMLButtonElement {
  const made = element("button", { class: name, text: label });
  made.type = "button";
  made.title = title;
  made.addEventListener("click", run);
  return made;
}

function inline(nodes: readonly Inline[], actions: Actions): Node[] {
  return nodes.map((node) => {
    switch (node.kind) {
      case "text":
        return document.createTextNode(node.text);
      case "code":
        return element("code", { text: node.text });
      case "strong":
      case "em":
      case "del":
        return element(node.kind, {}, ...inline(node.children, actions));
      case "break":
        return element("br");
      case "link": {
        const link = element("a", {}, ...inline(node.children, actions));
        link.href = "#";
        link.title = node.url;
        link.addEventListener("click", (event) => {
          event.preventDefault();
          actions.link(node.url);
        });
        return link;
      }
    }
  });
}

function item({ inline: head, checked, children }: ListItem, actions: Actions): HTMLElement {
  const made = element("li");
  if (checked !== undefined) {
    made.className = "box";
    made.append(element("span", { class: "sign", text: checked ? "☑ " : "☐ " }));
  }
  made.append(...inline(head, actions), ...blocks(children, actions));
  return made;
}

function code(language: string, text: string, actions: Actions): HTMLElement {
  const head = element(
    "div",
    { class: "codehead" },
    element("span", { text: language === "" ? "code" : language }),
    button("Copy", "Copy this code", () => {
      actions.copy(text);
    }),
  );
  const lines =
    language === "diff"
      ? text.split("\n").map((line) => {
          const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
          return element("span", { class: kind, text: `${line}\n` });
        })
      : [text];
  const pre = element("pre", {}, element("code", {}, ...lines));
  pre.tabIndex = 0;
  return element("div", { class: "code" }, head, pre);
}

function block(node: Block, actions: Actions): HTMLElement {
  switch (node.kind) {
    case "heading": {
      // The page's own headings come first: those of an answer lie below them.
      const made = element("h4", { class: `h${node.level}` }, ...inline(node.inline, actions));
      made.ariaLevel = String(Math.min(6, node.level + 3));
      return made;
    }
    case "paragraph":
      return element("p", {}, ...inline(node.inline, actions));
    case "code":
      return code(node.language, node.text, actions);
    case "list": {
      const made = element(node.ordered ? "ol" : "ul", {}, ...node.items.map((each) => item(each, actions)));
      if (made instanceof HTMLOListElement) {
        made.start = node.start;
      }
      return made;
    }
    case "quote":
      return element("blockquote", {}, ...blocks(node.blocks, actions));
    case "rule":
      return element("hr");
    case "table": {
      const row = (tag: "th" | "td", cells: readonly (readonly Inline[])[]): HTMLElement =>
        element("tr", {}, ...cells.map((cell) => element(tag, {}, ...inline(cell, actions))));
      const table = element("table", {}, element("thead", {}, row("th", node.head)), element("tbody", {}, ...node.rows.map((cells) => row("td", cells))));
      return element("div", { class: "table" }, table);
    }
  }
}

export function blocks(nodes: readonly Block[], actions: Actions): HTMLElement[] {
  return nodes.map((node) => block(node, actions));
}
