import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { test } from "./support/test.ts";

const ALLOWED = { TENUTO_PERMISSIONS: "allow" };

test("what a run changed is shown, taken back and put there again", async ({
  own,
  open,
  model,
}) => {
  const server = await own(ALLOWED);
  const { path } = await server.call<{ path: string }>("GET", "/workspaces/default");
  const [old, made] = [join(path, "src.py"), join(path, "notes.txt")];
  writeFileSync(old, "one\ntwo\n");
  const tab = await (await open({}, { url: server.url })).tab();
  await tab.send("Change them");
  const first = await model.next("Change them");
  first.tool("call-1", "edit_file", { path: "src.py", old: "two", new: "2" });
  first.finish("tool_calls");
  const second = await model.next();
  second.tool("call-2", "write_file", { path: "notes.txt", content: "new\n" });
  second.finish("tool_calls");
  (await model.next()).say("Changed.");
  await tab.shows("Change them", "Changed.");
  await tab.button("Details").click();

  const files = tab.page.getByRole("region", { name: "Files changed" });
  await files
    .getByRole("button", { name: /src\.py/ })
    .first()
    .click();
  await files.getByRole("group", { name: "Change of src.py" }).waitFor();
  await files.getByRole("button", { name: "Revert src.py" }).click();
  await tab.sees("Reverted 1 file.");
  expect(readFileSync(old, "utf8")).toBe("one\ntwo\n");
  expect(existsSync(made)).toBe(true);
  await files.getByRole("button", { name: "Put the change of src.py back" }).click();
  await tab.sees("Put back 1 file.");
  expect(readFileSync(old, "utf8")).toBe("one\n2\n");

  writeFileSync(made, "mine\n");
  await files.getByRole("button", { name: "Revert all of this run" }).click();
  await tab.sees("Reverted 1 file. notes.txt was left alone: It was changed since.");
  await files.getByText("It was changed since.", { exact: true }).waitFor();
  expect(readFileSync(made, "utf8")).toBe("mine\n");
});

test("who undoes a turn is offered its files back", async ({ own, open, model }) => {
  const server = await own(ALLOWED);
  const { path } = await server.call<{ path: string }>("GET", "/workspaces/default");
  const made = join(path, "made.txt");
  const tab = await (await open({}, { url: server.url })).tab();
  await tab.send("Make it");
  const first = await model.next("Make it");
  first.tool("call-1", "write_file", { path: "made.txt", content: "made\n" });
  first.finish("tool_calls");
  (await model.next()).say("Made.");
  await tab.shows("Make it", "Made.");
  await tab.button("Undo: remove this and what follows").click();
  await tab.sees("Undone. made.txt is still as it left it.");
  expect(existsSync(made)).toBe(true);
  await tab.button("Revert it").click();
  await tab.sees("Reverted 1 file.");
  expect(existsSync(made)).toBe(false);
});
