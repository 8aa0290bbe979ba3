/** Runs a script written in TypeScript: `node scripts/run.mjs measure`. */

import { resolve } from "node:path";
import { runnerImport } from "vite";

const [name = ""] = process.argv.slice(2);
const { module } = await runnerImport(resolve(import.meta.dirname, `${name}.ts`));
await module.main();
