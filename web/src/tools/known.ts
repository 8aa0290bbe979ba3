/** Every tool by its name. */

import { ask_user } from "./ask_user";
import { edit_file } from "./edit_file";
import { fetch_url } from "./fetch_url";
import { foreign } from "./foreign";
import { list_files } from "./list_files";
import { read_file } from "./read_file";
import { read_job } from "./read_job";
import { search_files } from "./search_files";
import { search_web } from "./search_web";
import { shell } from "./shell";
import { start_job } from "./start_job";
import { stop_job } from "./stop_job";
import { skill } from "./skill";
import { task } from "./task";
import { todo } from "./todo";
import type { Tool } from "./tool";
import { write_file } from "./write_file";

const KNOWN: Record<string, Tool> = {
  ask_user,
  edit_file,
  fetch_url,
  list_files,
  read_file,
  read_job,
  search_files,
  search_web,
  shell,
  start_job,
  stop_job,
  skill,
  task,
  todo,
  write_file,
};

export function toolOf(name: string): Tool {
  return Object.hasOwn(KNOWN, name) ? (KNOWN[name] ?? foreign) : foreign;
}

/** What a tool does, for people; `told` is what the server tells the model about it. */
export function sentenceOf(name: string, told: string): string {
  return toolOf(name).about ?? firstSentence(told);
}

function firstSentence(text: string): string {
  const first = /^.*?[.](?=\s|$)/s.exec(text.trim())?.[0] ?? text.trim();
  return first.length > 160 ? `${first.slice(0, 159)}…` : first;
}
