import { expect } from "vitest";
import { test } from "./support/test.ts";

const EVIL = `
<script>window.hurt = 1</script>
<img src="x" onerror="window.hurt = 2">
<svg onload="window.hurt = 3"></svg>
<iframe srcdoc="<script>parent.hurt = 4</script>"></iframe>
<style>body { display: none }</style>
<form action="/login"><input name="token"></form>
<a href="javascript:window.hurt=5">press me</a>
[me too](javascript:window.hurt=6) and [me](data:text/html,<script>window.hurt=7</script>)
![picture](http://example.com/track.png)

\`\`\`html
<img src=x onerror="window.hurt = 8">
\`\`\`

$\\href{javascript:window.hurt=9}{x}$ ${"**".repeat(50)} ${"[".repeat(200)} ${"> ".repeat(50)}

| broken | table
|---
and the end.
`;

test("an answer full of tricks does nothing", async ({ device, model }) => {
  // Also where the sanitiser reads it, in a document that nobody sees, the page's rules hold.
  device.allowed.push(/(Executing|Applying) inline .* violates/);
  const tab = await device.tab();
  await tab.send("Be evil");
  const exchange = await model.next("Be evil");
  for (let at = 0; at < EVIL.length; at += 7) exchange.text(EVIL.slice(at, at + 7));
  exchange.finish();
  await tab.lastAnswer.getByText("and the end.").waitFor();
  await tab.hides(tab.stop);
  for (const link of await tab.lastAnswer.getByText(/press me|me too/).all()) {
    await link.click({ timeout: 2000, noWaitAfter: true });
  }
  expect(await tab.page.evaluate(() => "hurt" in window)).toBe(false);
  const found = await tab.lastAnswer.evaluate((answer) => ({
    dangerous: answer.querySelectorAll("script, iframe, style, form, input:not([disabled])").length,
    foreign: [...answer.querySelectorAll("[src]")].map((one) => one.getAttribute("src")),
    links: [...answer.querySelectorAll("a[href]")].map((one) => one.getAttribute("href")),
    handlers: [...answer.querySelectorAll("*")].flatMap((one) =>
      one.getAttributeNames().filter((name) => name.startsWith("on")),
    ),
  }));
  expect(found.dangerous).toBe(0);
  expect(found.foreign.filter((src) => src?.startsWith("http"))).toEqual([]);
  expect(found.links.filter((href) => !/^(https?|mailto):/.test(href ?? ""))).toEqual([]);
  expect(found.handlers).toEqual([]);
  await tab.send("Still there");
  (await model.next("Still there")).say("Yes.");
  await tab.lastAnswer.getByText("Yes.").waitFor();
});
