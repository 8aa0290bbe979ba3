import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { browse, closeBrowser, refusal, type Memory, type Server } from "../support/browser";

let server: Server;
let memory: Memory;
const assign = vi.fn<(path: string) => void>();

beforeEach(() => {
  ({ server, memory } = browse());
  assign.mockReset();
  vi.stubGlobal("location", { assign, pathname: "/settings/about", search: "" });
  memory.setItem("tenuto.preferences", "{}");
  memory.setItem("tenuto.draft.ses_1", "{}");
  memory.setItem("tenuto.seen", "{}");
  memory.setItem("other", "theirs");
});

afterEach(closeBrowser);

/** The page makes its things when it is loaded, and so after the browser. */
async function logOut(): Promise<void> {
  const login = await import("$/settings/login");
  await login.logOut();
}

test("who logs out leaves nothing behind but how the page looks", async () => {
  await logOut();
  expect(server.calls).toMatchObject([{ method: "DELETE", path: "/login" }]);
  expect([...memory.values.keys()]).toEqual(["tenuto.preferences", "other"]);
  expect(assign).toHaveBeenCalledExactlyOnceWith("/login");
});

test("nothing is forgotten while the server still knows them", async () => {
  server.answer = () => refusal(500, "internal");
  await expect(logOut()).rejects.toMatchObject({ code: "internal" });
  expect(memory.values.size).toBe(4);
  expect(assign).not.toHaveBeenCalled();
});
