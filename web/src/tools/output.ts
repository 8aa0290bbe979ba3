/** What tools print, made fit to be shown. */

import type { ToolPart } from "$/wire/types";

const OSC = /\x1b[\]PX^_][^]*?(?:\x07|\x1b\\|$)/g;
const CSI = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g;
const ESCAPE = /\x1b[ -/]*[0-~]|\x1b$/g;
const CONTROL = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Text as a terminal would leave it on its screen, without colours. */
export function plain(output: string): string {
  const text = /[\x1b\x9b]/.test(output)
    ? output.replace(OSC, "").replace(CSI, "").replace(ESCAPE, "")
    : output;
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text)) return text;
  return text.split("\n").map(overwritten).join("\n");
}

/** A progress bar goes back to the line's beginning and writes over it. */
function overwritten(line: string): string {
  const last = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  let kept = last;
  while (/[^\x08]\x08/.test(kept)) kept = kept.replace(/[^\x08]\x08/g, "");
  return kept.replace(CONTROL, "").replaceAll("\x08", "");
}

/** The last lines of a text, however long it is. */
export function tail(text: string, lines: number): string {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  let start = end;
  for (let n = 0; n < lines && start > 0; n += 1) start = text.lastIndexOf("\n", start - 1);
  return text.slice(start <= 0 ? 0 : start + 1, end);
}

/** How long the output is that is kept whole beside the transcript; null: all of it is here. */
export function keptCharacters(part: ToolPart): number | null {
  const kept = part.details?.["kept_characters"];
  return typeof kept === "number" ? kept : null;
}

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text);
}
