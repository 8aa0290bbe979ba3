/** What the page knows of a tool; each has a file of its own, and `foreign` is for all others. */

import type { ToolPart } from "$/wire/types";
import type { Diff } from "./diff";

export interface Tool {
  /** What it does, in one sentence, for the person who decides about it; null: the server's words. */
  about: string | null;
  /** What it may change: one file that it names, anything at all, or nothing that is listed. */
  changes: "file" | "anything" | "nothing";
  /** What it does is worth watching while it runs. */
  live: boolean;
  /** What a call is about; also while its input is still coming. */
  line(part: ToolPart): Line;
  /** What a call asks leave for. */
  request(asked: Asked): Request;
  /** What there is to see of a call. */
  body(part: ToolPart): Body;
  /** What a call changed or asks to change, as far as it is known. */
  change(part: ToolPart): Change | null;
  /** The list of things to do that it puts in force; null: it keeps no such list. */
  plan(part: ToolPart): TodoItem[] | null;
  /** It was done, but what it did went wrong. */
  wentWrong(part: ToolPart): boolean;
}

export interface Line {
  text: string;
  kind: "code" | "words";
}

export interface Asked {
  tool: string;
  input: Record<string, unknown>;
}

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

export interface NumberedLine {
  number: number | null;
  text: string;
}

export interface TodoItem {
  text: string;
  status: "pending" | "in_progress" | "done";
}

export interface AskedItem {
  question: string;
  answers: string[];
}

export type Body =
  | { kind: "prompt"; text: string }
  | { kind: "asked"; items: AskedItem[]; instead: string | null; unanswered: string | null }
  | { kind: "shell" }
  | { kind: "todo"; items: TodoItem[] }
  | { kind: "diff"; path: string; diff: Diff }
  | { kind: "content"; text: string; path: string }
  | { kind: "lines"; lines: NumberedLine[] }
  | { kind: "found"; files: { path: string; lines: NumberedLine[] }[]; remarks: string[] }
  | { kind: "other" };

export interface Change {
  path: string;
  /** null: what changed was not kept. */
  diff: Diff | null;
  /** The diff is all that changed. */
  whole: boolean;
}
