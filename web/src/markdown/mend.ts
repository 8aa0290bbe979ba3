/**
 * Makes the unfinished end of a markdown text fit to be shown.
 *
 * What has begun and not ended (emphasis, code, a link, a table's head) is shown as it will look,
 * and what cannot be judged yet (a lone dash, half a fence) is held back until more comes. So
 * nothing is shown first as signs and then as what they mean.
 */

const FENCE = /^ {0,3}(?:[-*+>] +|\d{1,9}[.)] +)*(`{3,}|~{3,})([^\n]*)$/;
const MARKER =
  /^[ \t]*(?:>[ \t]*)*(?:([-=*_#+>|~`$\\])\1*|[-*+][ \t]+\[[ xX]?|\d{1,9}[.)]?)[ \t]*$/;
const DELIMITER_ROW = /^[ \t]*\|?[ \t:|-]*$/;

export function mend(text: string): string {
  const fence = openFence(text);
  if (fence) return mendFence(text, fence);
  const cut = text.lastIndexOf("\n") + 1;
  const line = text.slice(cut);
  const table = mendTable(text.slice(0, cut), line);
  if (table !== null) return table;
  if (MARKER.test(line)) return text.slice(0, cut).replace(/\n$/, "");
  const leaf = leafStart(text);
  return text.slice(0, leaf) + mendInline(text.slice(leaf));
}

interface Fence {
  sign: string;
  /** Where the line that opens it begins. */
  at: number;
}

/** The code fence that is open at the end of the text. */
function openFence(text: string): Fence | null {
  let open: Fence | null = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const found = FENCE.exec(line);
    const sign = found?.[1] ?? "";
    if (open) {
      const closes = new RegExp(`^\\s*${open.sign[0] ?? ""}{${open.sign.length},}\\s*$`).test(line);
      if (closes) open = null;
    } else if (found && !(sign.startsWith("`") && (found[2] ?? "").includes("`"))) {
      open = { sign, at };
    }
    at += line.length + 1;
  }
  return open;
}

function mendFence(text: string, fence: Fence): string {
  const cut = text.lastIndexOf("\n") + 1;
  const line = text.slice(cut);
  // The name of the language may not be whole yet.
  if (cut <= fence.at)
    return text.slice(0, fence.at) + (/^.*?(?:`{3,}|~{3,})/.exec(line)?.[0] ?? "");
  const sign = fence.sign[0] ?? "`";
  const closing = line.trim();
  return closing !== "" && closing === sign.repeat(closing.length) ? text.slice(0, cut - 1) : text;
}

/** A table from its first line on: its head is held back until it is whole. */
function mendTable(before: string, line: string): string | null {
  const lines = before.split("\n").slice(0, -1);
  const head = lines.at(-1) ?? "";
  const first = (lines.at(-2) ?? "").trim() === "";
  if (/^[ \t]*\|/.test(head) && first && DELIMITER_ROW.test(line)) {
    const columns = head
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/).length;
    return `${before}|${" - |".repeat(columns)}`;
  }
  const startsTable = /^[ \t]*\|/.test(line) && head.trim() === "";
  return startsTable ? before.replace(/\n$/, "") : null;
}

/** Where the paragraph, item, heading or cell begins that the text ends in. */
function leafStart(text: string): number {
  const line = text.lastIndexOf("\n") + 1;
  const last = text.slice(line);
  if (/^[ \t]*\|/.test(last)) return line + last.lastIndexOf("|") + 1;
  const lines = text.split("\n");
  let at = text.length;
  for (let n = lines.length - 1; n >= 0; n -= 1) {
    const here = lines[n] ?? "";
    at -= here.length;
    const marker =
      /^[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+|>[ \t]*)/.exec(
        here,
      );
    if (marker) return at + marker[0].length;
    if (here.trim() === "" && n < lines.length - 1) return at + here.length + 1;
    at -= 1;
  }
  return 0;
}

interface Opened {
  sign: string;
  at: number;
}

/** The text with what is open in it closed, and with half a sign at its end left out. */
function mendInline(text: string): string {
  const open: Opened[] = [];
  let link = -1;
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at, at + 400);
    const code = /^`+/.exec(rest)?.[0];
    if (rest.startsWith("\\")) {
      const formula = /^\\[([]/.test(rest);
      const end = formula ? text.indexOf(rest[1] === "(" ? "\\)" : "\\]", at) : at;
      if (end < 0) return close(text.slice(0, at), open);
      at = formula ? end + 2 : at + 2;
    } else if (code) {
      const end = closingTicks(text, at + code.length, code.length);
      if (end < 0) return closeCode(text, at, code, open);
      at = end;
    } else if (rest.startsWith("[") || rest.startsWith("![")) {
      link = at;
      at += rest.startsWith("!") ? 2 : 1;
    } else if (rest.startsWith("](") && link >= 0) {
      const end = linkEnd(text, at + 2);
      if (end < 0) return close(unlinked(text.slice(0, at), link), open);
      link = -1;
      at = end;
    } else if (rest.startsWith("]")) {
      if (at + 1 === text.length && link >= 0)
        return close(unlinked(text.slice(0, at), link), open);
      link = -1;
      at += 1;
    } else {
      at += takeSign(text, at, open);
    }
  }
  return close(link >= 0 ? unlinked(text, link) : text, open);
}

/** Notes an emphasis sign at this place as an opening or a closing one; returns its length. */
function takeSign(text: string, at: number, open: Opened[]): number {
  const sign = /^(?:\*{1,3}|_{1,3}|~~)/.exec(text.slice(at, at + 3))?.[0];
  if (!sign) return 1;
  const previous = text[at - 1] ?? " ";
  const next = text[at + sign.length] ?? "";
  const match = open.findLastIndex((one) => one.sign[0] === sign[0]);
  const within = sign.startsWith("_") && /\w/.test(previous) && /\w/.test(next);
  if (within) return sign.length;
  if (match >= 0 && !/\s/.test(previous)) {
    const opener = open[match];
    const shorter = opener && opener.sign.length > sign.length;
    // At the very end it may be the first half of the sign that closes.
    if (shorter && next === "") return sign.length;
    open.length = match;
    if (shorter) open.push({ sign: opener.sign.slice(sign.length), at: opener.at });
  } else if (next === "" || !/\s/.test(next)) {
    open.push({ sign, at });
  }
  return sign.length;
}

function close(text: string, open: readonly Opened[]): string {
  let shown = text;
  const left = [...open];
  // A sign at the very end may be the half of a longer one, and opens nothing yet.
  const tail = /[*_~]+$/.exec(shown)?.[0] ?? "";
  if (tail && left.length > 0) {
    const at = shown.length - tail.length;
    while ((left.at(-1)?.at ?? -1) >= at) left.pop();
    if (left.length < open.length || tail.length < (open.at(-1)?.sign.length ?? 0)) {
      shown = shown.slice(0, at);
    }
  }
  const trimmed = shown.trimEnd();
  const signs = left
    .map((one) => one.sign)
    .reverse()
    .join("");
  return signs === "" ? shown : trimmed + signs;
}

function closeCode(text: string, at: number, code: string, open: readonly Opened[]): string {
  const inside = text.slice(at + code.length).replace(/`+$/, "");
  if (inside.trim() === "") return close(text.slice(0, at).trimEnd(), open);
  const signs = [...open].reverse().map((one) => one.sign);
  return text.slice(0, at) + code + inside + code + signs.join("");
}

function closingTicks(text: string, from: number, size: number): number {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let run = runs.exec(text); run; run = runs.exec(text)) {
    if (run[0].length === size) return run.index + size;
  }
  return -1;
}

function linkEnd(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at + 1;
    if (text[at] === "\n") return at;
  }
  return -1;
}

/** A link that is not whole is shown as its text; an image not at all. */
function unlinked(text: string, at: number): string {
  if (text[at] === "!") return text.slice(0, at);
  return text.slice(0, at) + text.slice(at + 1);
}
