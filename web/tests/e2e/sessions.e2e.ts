import type { Locator } from "playwright-core";
import { expect } from "vitest";
import type { Tab } from "./support/tab.ts";
import type { Tenuto } from "./support/tenuto.ts";
import { test } from "./support/test.ts";

async function make(server: Tenuto, title: string): Promise<string> {
  return (await server.call<{ id: string }>("POST", "/sessions", { title })).id;
}

function row(tab: Tab, title: string): Locator {
  return tab.sessions.getByRole("link", { name: new RegExp(`^${title}`) });
}

async function act(tab: Tab, title: string, what: string): Promise<void> {
  await row(tab, title).hover();
  await tab.choose(tab.sessions.getByRole("button", { name: `Actions for ${title}` }), what);
}

test("search finds what was said, not only names", async ({ device, model, server }) => {
  const id = await make(server, "A name that says nothing");
  const tab = await device.tab(`/s/${id}`);
  await tab.send("Tell me of the xylophone");
  (await model.next("xylophone")).say("It is a percussion instrument.");
  await tab.lastAnswer.getByText("percussion").waitFor();
  await tab.hides(tab.stop);
  await make(server, "Something else");
  await tab.page.goto(device.url);
  await tab.page.getByLabel("Search all sessions").pressSequentially("percussion");
  const found = tab.page.getByRole("group", { name: "Found" });
  await found.getByRole("link", { name: /A name that says nothing/ }).click();
  await tab.shows("Tell me of the xylophone", "It is a percussion instrument.");
});

test("a session can be renamed, pinned and archived, and every device sees it", async ({
  open,
  server,
}) => {
  await make(server, "Plain");
  const tab = await (await open()).tab();
  const other = await (await open()).tab();
  await act(tab, "Plain", "Rename");
  await tab.page.getByLabel("Name of the session").fill("Fancy");
  await tab.page.getByLabel("Name of the session").press("Enter");
  for (const one of [tab, other]) await row(one, "Fancy").waitFor();
  await act(tab, "Fancy", "Pin");
  for (const one of [tab, other]) await one.sessions.getByText("Pinned").first().waitFor();
  await act(tab, "Fancy", "Archive");
  for (const one of [tab, other]) await one.hides(row(one, "Fancy"));
  await other.button("Archived").click();
  await row(other, "Fancy").waitFor();
});

test("a deleted session can be brought back for a moment, and is gone for good after it", async ({
  device,
  server,
}) => {
  const kept = await make(server, "Deleted by mistake");
  const gone = await make(server, "Deleted on purpose");
  const tab = await device.tab();
  await act(tab, "Deleted by mistake", "Delete");
  await tab.hides(row(tab, "Deleted by mistake"));
  await tab.button("Undo").click();
  await row(tab, "Deleted by mistake").waitFor();

  await act(tab, "Deleted on purpose", "Delete");
  await tab.hides(row(tab, "Deleted on purpose"));
  const ids = async () =>
    (await server.call<{ sessions: { id: string }[] }>("GET", "/sessions?limit=200")).sessions.map(
      (session) => session.id,
    );
  await expect.poll(ids).not.toContain(gone);
  expect(await ids()).toContain(kept);
  await tab.page.reload();
  await row(tab, "Deleted by mistake").waitFor();
  await tab.hides(row(tab, "Deleted on purpose"));
});
