import { expect } from "vitest";
import { ModelServer } from "./support/model.ts";
import { TOKEN } from "./support/tenuto.ts";
import { test } from "./support/test.ts";

const KEY = "sk-a-secret-that-stays-on-the-server";

test("a provider is added, tested and used, and its key never comes back", async ({
  open,
  own,
}) => {
  const server = await own({}, null);
  const other = await ModelServer.start();
  other.models = ["gamma"];
  other.key = KEY;
  try {
    const device = await open(undefined, { url: server.url });
    const tab = await device.tab("/settings/providers");
    const answers: Promise<string>[] = [];
    tab.page.on("response", (response) => {
      if (response.url().includes("/api/")) answers.push(response.text().catch(() => ""));
    });
    await tab.button("Add").click();
    await tab.page.getByRole("group", { name: "What kind" }).getByRole("button").last().click();
    await tab.page.getByLabel("Name").fill("mine");
    await tab.page.getByLabel("Address").fill(other.url);
    await tab.page.getByLabel(/^Key/).fill("sk-wrong");
    await tab.button("Test").click();
    const outcome = tab.page.getByRole("status").filter({ hasText: "It does not work yet." });
    await expect.poll(() => outcome.innerText()).toMatch(/key/i);

    await tab.page.getByLabel(/^Key/).fill(KEY);
    await tab.button("Test").click();
    await tab.sees("It works.");
    await tab.sees(/1 model:\s*gamma/);
    await tab.button("Save").click();
    await tab.sees(/key set/);
    await tab.page.reload();
    await tab.sees(/key set/);

    await tab.page.goto(server.url);
    await tab.send("Hello, gamma");
    const exchange = await other.next("Hello, gamma");
    expect(exchange.model).toBe("gamma");
    exchange.say("Hello.");
    await tab.shows("Hello, gamma", "Hello.");
    expect((await Promise.all(answers)).join("\n")).not.toContain(KEY);
  } finally {
    await other.close();
  }
});

test("who is not logged in comes to the login page, and then to where they wanted to go", async ({
  open,
  server,
}) => {
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title: "Behind a door" });
  const device = await open(undefined, { login: "out" });
  device.allowed.push(/status of 401/);
  const tab = await device.tab(`/s/${id}`);
  await tab.page.getByLabel("Token").fill("not the token");
  await tab.button("Log in").click();
  await tab.sees("That is not the token.");
  await tab.page.getByLabel("Token").fill(TOKEN);
  await tab.button("Log in").click();
  await tab.page.getByRole("heading", { name: "Behind a door" }).waitFor();
  expect(tab.session).toBe(id);
});

test("alone, a server says so quietly; among others, each says how it is", async ({
  open,
  own,
}) => {
  const server = await own({}, null);
  const device = await open(undefined, { url: server.url });
  const tab = await device.tab("/settings/about");
  await tab.sees("one: this server");
  expect(await tab.page.getByRole("heading", { name: "Nodes" }).count()).toBe(0);

  const { nodes } = await server.call<{ nodes: object[] }>("GET", "/nodes");
  const others = [
    { ...nodes[0], id: "node_b", name: "right", state: "draining", active_runs: 2 },
    { ...nodes[0], id: "node_c", name: "third", state: "gone" },
  ];
  await tab.page.route("**/api/nodes", (asked) =>
    asked.fulfill({ json: { nodes: [...nodes, ...others] } }),
  );
  await tab.page.reload();
  await tab.page.getByRole("heading", { name: "Nodes" }).waitFor();
  const rows = tab.page.getByRole("listitem").filter({ hasText: "version" });
  await expect.poll(() => rows.count()).toBe(3);
  await expect.poll(() => rows.nth(0).innerText()).toMatch(/local\s*alive\s*idle/);
  expect(await rows.nth(1).innerText()).toMatch(/right\s*draining\s*2 active runs/);
  expect(await rows.nth(2).innerText()).toMatch(/third\s*gone/);
});
