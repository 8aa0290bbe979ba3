/** MCP servers in words, and what a person types for one. */

import type { McpDraft, McpNow } from "$/wire/settings";

interface Standing {
  kind: "plain" | "accent" | "warm" | "bad" | "good";
  word: string;
}

const STATES: Record<McpNow["state"], Standing> = {
  idle: { kind: "plain", word: "Starts when needed" },
  starting: { kind: "accent", word: "Starting" },
  ready: { kind: "good", word: "Ready" },
  failed: { kind: "bad", word: "Failed" },
  needs_login: { kind: "warm", word: "Sign in" },
  off: { kind: "plain", word: "Off" },
};

export function standingOf(server: McpNow): Standing {
  return STATES[server.state];
}

export function originOf(server: McpNow): string {
  if (server.source === "file") return "From tenuto.toml";
  if (server.source === "workspace") return "From the workspace's .mcp.json";
  return server.trust ? "Added here, trusted" : "Added here";
}

/** How it is reached, on one line. */
export function reachOf(server: McpNow): string {
  return server.url === "" ? [server.command, ...server.args].join(" ") : server.url;
}

export function countOf(server: McpNow): string {
  const tools = server.tools.length;
  if (tools === 0) return "Its tools are known once it has started";
  return tools === 1 ? "1 tool" : `${tools} tools`;
}

/** The words of a command line, quotes kept together; null if a quote stays open. */
export function words(line: string): string[] | null {
  const found: string[] = [];
  let rest = line.trim();
  while (rest !== "") {
    const match = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(?:\s+|$)/.exec(rest);
    if (match === null) return null;
    found.push(match[1]?.replace(/\\(.)/g, "$1") ?? match[2] ?? match[3] ?? "");
    rest = rest.slice(match[0].length);
  }
  return found;
}

/** A command line that gives these words again. */
export function lineOf(command: string, args: readonly string[]): string {
  return [command, ...args]
    .map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/(["\\])/g, "\\$1")}"`))
    .join(" ");
}

/** `NAME=value` or `Name: value`, a line each. A name alone keeps the value that is there; null: a
 * line that is neither. */
export function secrets(text: string, mark: "=" | ":"): Record<string, string | null> | null {
  const found: Record<string, string | null> = {};
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "") continue;
    const place = line.indexOf(mark);
    const name = (place < 0 ? line : line.slice(0, place)).trim();
    if (name === "" || /\s/.test(name)) return null;
    found[name] = place < 0 ? null : line.slice(place + 1).trim();
  }
  return found;
}

/** What to send so that nothing changes: secrets that are null stay as they are. */
export function asIs(server: McpNow): McpDraft {
  const kept = (names: readonly string[]): Record<string, null> =>
    Object.fromEntries(names.map((name) => [name, null]));
  const { command, args, url, trust, timeout, enabled } = server;
  return {
    command,
    args,
    url,
    trust,
    timeout,
    enabled,
    tools: server.offered,
    env: kept(server.env),
    headers: kept(server.headers),
  };
}

export interface Typed {
  name: string;
  reach: string;
  secret: string;
  trust: boolean;
}

/** Whether what was typed is an address rather than a command. */
export function isAddress(reach: string): boolean {
  return /^https?:\/\//.test(reach.trim());
}

/** What to send, or which field is wrong and why. */
export function draftOf(typed: Typed): McpDraft | { field: string; why: string } {
  const reach = typed.reach.trim();
  if (reach === "") return { field: "reach", why: "Give a command, or an address." };
  if (isAddress(reach)) {
    const headers = secrets(typed.secret, ":");
    if (headers === null) return { field: "secret", why: "One header per line: Name: value." };
    return { url: reach, headers, trust: typed.trust };
  }
  const [command, ...args] = words(reach) ?? [];
  if (command === undefined) return { field: "reach", why: "A quote is not closed." };
  const env = secrets(typed.secret, "=");
  if (env === null) return { field: "secret", why: "One variable per line: NAME=value." };
  return { command, args, env, trust: typed.trust };
}
