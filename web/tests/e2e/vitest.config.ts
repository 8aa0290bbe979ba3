/** The page in a real browser, against the real server: `npm run e2e`. */

import { defineConfig } from "vitest/config";

export default defineConfig({
  cacheDir: "../../node_modules/.vite",
  test: {
    root: import.meta.dirname,
    include: ["**/*.e2e.ts"],
    // One browser and one test at a time: what is proven here is order, and machines are small.
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    testTimeout: 45_000,
    hookTimeout: 45_000,
    // Conditions are waited for, as long as a busy machine may need; nothing is slept on.
    expect: { poll: { timeout: 15_000, interval: 25 } },
    reporters: ["verbose"],
  },
});
