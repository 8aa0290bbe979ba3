/** Writes each built file also compressed, and says how much the first visit costs. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin, Rollup } from "vite";

/** What a first visit may load, compressed, before the page can be used. */
const MOST_BYTES = 150_000;
/** Smaller ones gain nothing; fonts and pictures are compressed as they are. */
const WORTH_BYTES = 512;
const TEXT = /\.(js|css|html|svg|json|webmanifest|txt)$/;

export function packed(): Plugin {
  let folder = "";
  let first: string[] = [];
  return {
    name: "packed",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    generateBundle(_options, bundle) {
      first = firstVisit(bundle);
    },
    closeBundle() {
      const sizes = new Map(files(folder).map((name) => [name, pack(join(folder, name))]));
      const total = first.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
      process.stdout.write(`first load: ${(total / 1000).toFixed(1)} kB compressed\n`);
      if (total > MOST_BYTES) {
        this.error(`The first load is over ${MOST_BYTES / 1000} kB: load something later.`);
      }
    },
  };
}

/** The files that the page needs before anything is asked for by `import()`. */
function firstVisit(bundle: Rollup.OutputBundle): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const chunk = bundle[name];
    if (found.has(name) || chunk?.type !== "chunk") return;
    found.add(name);
    for (const css of chunk.viteMetadata?.importedCss ?? []) found.add(css);
    for (const other of chunk.imports) add(other);
  };
  for (const item of Object.values(bundle)) {
    if (item.type === "chunk" && item.isEntry) add(item.fileName);
  }
  return [...found, "index.html"];
}

/** Compress beside it; the size of what is sent to most browsers. */
function pack(path: string): number {
  const plain = readFileSync(path);
  if (!TEXT.test(path) || plain.length < WORTH_BYTES) return plain.length;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  const brotli = brotliCompressSync(plain, { params });
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
  return brotli.length;
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
