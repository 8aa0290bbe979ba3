import { diffOf, type Diff } from "$/tools/diff";
import type { Approval } from "$/wire/types";
import { visible } from "./visible";

/** What a tool wants, in words, and the thing itself as code, diff or address. */
export interface Request {
  title: string;
  body:
    | { kind: "command"; text: string }
    | { kind: "diff"; path: string; diff: Diff }
    | { kind: "file"; path: string; text: string }
    | { kind: "url"; url: string }
    | { kind: "arguments"; text: string };
  /** What "Allow for this session" would cover. */
  scope: string;
}

export function requestOf(approval: Pick<Approval, "tool" | "input">): Request {
  const { tool, input } = approval;
  const said = (field: string): string => {
    const value = input?.[field];
    return typeof value === "string" ? visible(value) : "";
  };
  const path = said("path");
  switch (tool) {
    case "shell":
      return {
        title: "Run a command",
        body: { kind: "command", text: said("command") },
        scope: "every command",
      };
    case "edit_file":
      return {
        title: input["all"] === true ? `Change every match in ${path}` : `Change ${path}`,
        body: { kind: "diff", path, diff: change(approval) },
        scope: "every edit",
      };
    case "write_file":
      return {
        title: `Write ${path}`,
        body: { kind: "file", path, text: said("content") },
        scope: "every file it writes",
      };
    case "fetch_url":
      return {
        title: "Open a web address",
        body: { kind: "url", url: said("url") },
        scope: "every address",
      };
    default:
      return foreign(tool, input);
  }
}

/** "Running a command", for a line that has little room. */
export interface Short {
  text: string;
  /** Whether that is all of it: only then can it be allowed from there. */
  whole: boolean;
}

export function inShort(approval: Pick<Approval, "tool" | "input">): Short {
  const { title, body } = requestOf(approval);
  if (body.kind === "command") {
    const line = oneLine(body.text);
    return { text: `Run: ${line}`, whole: line === body.text.trim() };
  }
  if (body.kind === "url") return { text: `Open: ${body.url}`, whole: true };
  return { text: title, whole: false };
}

function foreign(tool: string, input: Record<string, unknown>): Request {
  const cut = tool.indexOf("__");
  const title =
    cut > 0
      ? `Use ${spoken(tool.slice(cut + 2))} of ${visible(tool.slice(0, cut))}`
      : `Use ${spoken(tool)}`;
  return {
    title,
    body: { kind: "arguments", text: visible(JSON.stringify(input, null, 2)) },
    scope: "every use of this tool",
  };
}

function spoken(name: string): string {
  return visible(name).replace(/[_-]+/g, " ");
}

function oneLine(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  return rest.length > 0 ? `${first} …` : first;
}

function change({ tool, input }: Pick<Approval, "tool" | "input">): Diff {
  const none: Diff = { lines: [], added: 0, removed: 0, cut: false, created: false };
  const diff = diffOf({
    id: "",
    type: "tool",
    call_id: "",
    name: tool,
    input,
    input_text: "",
    state: "waiting_approval",
    output: null,
    error: null,
  });
  // Where in the file it is, is not known before it is done.
  const lines = diff?.lines.map((line) => ({ ...line, old: null, new: null }));
  return diff && lines ? { ...diff, lines } : none;
}
