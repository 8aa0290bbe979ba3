import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import { PHONE, WIDE } from "./support/device.ts";
import type { Tab } from "./support/tab.ts";
import { test } from "./support/test.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is serious or critical on the screen now, with where it is. */
async function violations(tab: Tab): Promise<string[]> {
  // A row of the list is hidden until it is measured, and has no name so long.
  await tab.page.waitForFunction(() =>
    [...document.querySelectorAll("a[data-session]")].every(
      (row) => getComputedStyle(row).visibility === "visible",
    ),
  );
  await tab.page.evaluate(AXE);
  const found = await tab.page.evaluate(() => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    return axe.run({ resultTypes: ["violations"] });
  });
  expect(found.passes.length, "rules that were really looked at").toBeGreaterThan(10);
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}`));
}

const RICH = `# A heading

A *paragraph* with \`code\`, a [link](https://example.com/) and a list:

- one
- two

| a | b |
|---|---|
| 1 | 2 |

\`\`\`python
def add(a: int, b: int) -> int:  # a comment
    return a + b
\`\`\`
`;

for (const colorScheme of ["light", "dark"] as const) {
  for (const [size, options] of [
    ["wide", WIDE],
    ["phone", PHONE],
  ] as const) {
    test(`no serious axe violation: ${size}, ${colorScheme}`, async ({ open, model, server }) => {
      // One at least, so that there is something to wait for: before it comes the list has no rows.
      await server.call("POST", "/sessions", { title: "Seen by everyone" });
      const device = await open({ ...options, colorScheme });
      const tab = await device.tab();
      await tab.field.waitFor();
      if (size === "wide") await tab.sessions.getByRole("link").first().waitFor();
      // While the list of sessions measures its rows, it may have none for a frame or two.
      await expect.poll(() => violations(tab), { message: "home", timeout: 10_000 }).toEqual([]);

      await tab.write("Show me everything");
      await tab.button(/^Send/).click();
      const first = await model.next("Show me everything");
      first.reasoning("Let me think.");
      first.text(RICH);
      first.tool("call-1", "write_file", { path: "a.txt", content: "one\ntwo\n" });
      first.finish("tool_calls");
      await tab.page.getByRole("region", { name: "Needs your answer: Write a.txt" }).waitFor();
      await tab.write("And then this");
      await tab.button("Queue").click();
      await tab.queue.getByText("And then this").waitFor();
      expect(await violations(tab), "a session that asks, with a queue").toEqual([]);
      await tab.button("Deny").click();
      (await model.next()).say("Fine.");
      (await model.next("And then this")).fail(400, "No more");
      await tab.sees(/gave an error/);
      expect(await violations(tab), "a finished session").toEqual([]);

      for (const path of ["/settings/providers", "/settings/models", "/usage", "/compare"]) {
        await tab.page.goto(device.url + path);
        await tab.page.getByRole("heading", { level: 1 }).first().waitFor();
        // Rows of the list are measured before they are shown.
        const row = tab.sessions.getByRole("link", { name: /Show me everything/ }).first();
        if (size === "wide") await row.waitFor();
        expect(await violations(tab), path).toEqual([]);
      }
    });
  }
}
