/** Who may know whom in `src`: each room only those below it, and no file itself by a detour. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import ts from "typescript";

/** From the top down; rooms in one row do not know each other. The last row is for everyone. */
export const LAYERS: readonly (readonly string[])[] = [
  ["."],
  ["shell"],
  ["compare", "settings", "usage"],
  ["composer", "details", "workspaces"],
  ["conversation", "queue"],
  ["approvals", "changes", "jobs", "models", "questions", "sub-agents"],
  ["tools", "charts"],
  ["markdown", "state"],
  ["link", "fold"],
  ["ui", "wire", "styles"],
];

/** Text by path below `src`. */
export type Sources = ReadonlyMap<string, string>;

const ENDINGS = ["", ".ts", ".svelte.ts", ".svelte"];

export function faultsOf(sources: Sources): string[] {
  const graph = new Map([...sources].map(([path, text]) => [path, importsOf(path, text, sources)]));
  return [...upward(graph), ...cycles(graph)];
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** The files of ours that a file imports, for their types too. */
function importsOf(path: string, text: string, sources: Sources): string[] {
  const code = path.endsWith(".svelte") ? scriptsOf(text) : text;
  const named = ts.preProcessFile(code, true, true).importedFiles.map((one) => one.fileName);
  return named.flatMap((name) => {
    if (!name.startsWith("$/") && !name.startsWith(".")) return [];
    const bare = name.startsWith("$/") ? name.slice(2) : normalize(join(dirname(path), name));
    const found = ENDINGS.map((ending) => bare + ending).find((file) => sources.has(file));
    // A component that shows itself inside itself has to import itself.
    return found === undefined || found === path ? [] : [found];
  });
}

function scriptsOf(component: string): string {
  const scripts = component.matchAll(/<script[^>]*>([^]*?)<\/script>/g);
  return [...scripts].map((script) => script[1]).join("\n");
}

function upward(graph: Graph): string[] {
  return [...graph].flatMap(([path, imported]) => [
    ...(rowOf(path) < 0 ? [`${path} is in a room without a layer`] : []),
    ...imported.flatMap((other) => {
      if (roomOf(path) === roomOf(other) || rowOf(path) < rowOf(other)) return [];
      return [`${path} may not know ${other}: ${roomOf(other)} is not below ${roomOf(path)}`];
    }),
  ]);
}

function roomOf(path: string): string {
  return path.includes("/") ? (path.split("/")[0] ?? "") : ".";
}

function rowOf(path: string): number {
  return LAYERS.findIndex((row) => row.includes(roomOf(path)));
}

/** Each way that leads back to where it began, once. */
function cycles(graph: Graph): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, way: readonly string[]): void => {
    const seen = way.indexOf(path);
    if (seen >= 0) found.push(`a circle: ${[...way.slice(seen), path].join(" → ")}`);
    if (seen >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) walk(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}

function read(root: string): Sources {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  return new Map(
    files
      .filter((file) => /\.(ts|svelte)$/.test(file))
      .map((file) => [file, readFileSync(join(root, file), "utf8")]),
  );
}

export function main(): void {
  const sources = read(resolve(import.meta.dirname, "../src"));
  const faults = faultsOf(sources);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
  console.log(`Layers: ${sources.size} files, all know only what is below them.`);
}
