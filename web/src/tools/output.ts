/** What tools print, made fit to be shown. */

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

export interface ShellOutput {
  text: string;
  /** How it ended, if not well. */
  remark: string | null;
  /** It ended with a code other than 0, by a signal or because its time was up. */
  bad: boolean;
}

const REMARK =
  /\n?\[((?:exit code \d+)|(?:ended by signal \d+)|(?:stopped: [^\]]+))\](?=\n\[|\s*$)/;
const LEFT = /\n?\[(\d+ process(?:es)? left in the background: ended)\]\s*$/;

/** Takes the tool's own remarks off the end of a command's output. */
export function shellOutput(output: string): ShellOutput {
  const left = LEFT.exec(output);
  const rest = left ? output.slice(0, left.index) : output;
  const remark = REMARK.exec(rest.slice(-400));
  const cut = remark ? Math.max(0, rest.length - 400) + remark.index : rest.length;
  const said = [remark?.[1], left?.[1]].filter((one) => one !== undefined);
  const text = plain(rest.slice(0, cut)).replace(/\n+$/, "");
  return {
    text: text === "(no output)" ? "" : text,
    remark: said.length === 0 ? null : said.map(spoken).join(" · "),
    bad: remark !== null,
  };
}

function spoken(remark: string): string {
  if (remark.startsWith("stopped: ")) return "Stopped: its time was up";
  const sentence = remark.replace(/: ended$/, " were ended");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

export interface NumberedLine {
  number: number | null;
  text: string;
}

/** Lines of `read_file`, and what it remarks at the end. */
export function numberedLines(output: string): NumberedLine[] {
  return output.split("\n").map((line) => {
    const found = /^ *(\d+)\t([^]*)$/.exec(line);
    return found
      ? { number: Number(found[1]), text: found[2] ?? "" }
      : { number: null, text: line };
  });
}

export interface Found {
  path: string;
  lines: NumberedLine[];
}

/** Lines of `search_files`, by file. */
export function foundLines(output: string): { files: Found[]; remarks: string[] } {
  const files: Found[] = [];
  const remarks: string[] = [];
  for (const line of output.split("\n")) {
    const found = /^(.+?):(\d+): (.*)$/.exec(line);
    if (!found) {
      if (line.trim() !== "") remarks.push(line);
      continue;
    }
    const [, path = "", number, text = ""] = found;
    const last = files.at(-1);
    const file = last?.path === path ? last : { path, lines: [] };
    if (file !== last) files.push(file);
    file.lines.push({ number: Number(number), text });
  }
  return { files, remarks };
}

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text);
}
