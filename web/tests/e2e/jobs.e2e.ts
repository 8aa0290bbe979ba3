import { expect } from "vitest";
import { test } from "./support/test.ts";

const ALLOWED = { TENUTO_PERMISSIONS: "allow" };
const COMMAND = "echo Listening; until [ -e never ]; do sleep 0.05; done";

for (const device of ["a desk", "a phone"] as const) {
  test(`a job is watched and stopped, on ${device}`, async ({ own, open, model }) => {
    const server = await own(ALLOWED);
    const size = device === "a phone" ? { viewport: { width: 390, height: 844 } } : {};
    const tab = await (await open(size, { url: server.url })).tab();
    await tab.send("Start it");
    const first = await model.next("Start it");
    first.tool("call-1", "start_job", { command: COMMAND, name: "dev server" });
    first.finish("tool_calls");
    (await model.next()).say("It runs.");
    await tab.shows("Start it", "It runs.");

    const job = tab.page.getByRole("region", { name: "Job: dev server" });
    await job.getByText("Listening").waitFor();
    await tab.button("Details").click();
    const listed = tab.page.getByRole("region", { name: "Jobs" });
    await listed.getByText("Running", { exact: true }).waitFor();
    await listed.getByRole("button", { name: "Stop" }).click();
    await listed.getByText(/^Stopped/).waitFor();
    expect(await tab.page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
  });
}

test("what was too long to show can be seen whole", async ({ own, open, model }) => {
  const server = await own(ALLOWED);
  const device = await open({}, { url: server.url });
  const tab = await device.tab();
  await tab.send("Print");
  const first = await model.next("Print");
  first.tool("call-1", "shell", { command: "seq 20000" });
  first.finish("tool_calls");
  (await model.next()).say("Printed.");
  await tab.shows("Print", "Printed.");
  await tab.page.getByText("seq 20000").first().click();
  const [whole] = await Promise.all([
    tab.page.context().waitForEvent("page"),
    tab.page.getByRole("link", { name: /^Whole output/ }).click(),
  ]);
  await whole.waitForLoadState();
  const text = await whole.locator("body").innerText();
  expect(text.split("\n")[12_344]).toBe("12345");
});
