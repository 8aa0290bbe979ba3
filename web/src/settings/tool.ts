/** What the tools do, in one line each, for the person who decides about them. */

import type { ToolRule } from "./wire";

// The server describes its tools for the model; these lines are for people.
const LINES: Record<string, string> = {
  shell: "Runs a command in the workspace's folder.",
  write_file: "Writes a file in the workspace.",
  edit_file: "Changes parts of a file in the workspace.",
  fetch_url: "Reads a page from the internet.",
  read_file: "Reads a file of the workspace.",
  list_files: "Lists the files of the workspace.",
  search_files: "Searches the files of the workspace.",
  todo: "Keeps a list of what is left to do. It touches no file.",
};

export function lineOf(tool: ToolRule): string {
  return LINES[tool.name] ?? firstSentence(tool.about);
}

function firstSentence(text: string): string {
  const first = /^.*?[.](?=\s|$)/s.exec(text.trim())?.[0] ?? text.trim();
  return first.length > 160 ? `${first.slice(0, 159)}…` : first;
}
