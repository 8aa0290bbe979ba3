import { expect, test } from "vitest";
import { joined, Keep, mayResend, type Shelf } from "$/composer/keep";
import type { Submission } from "$/composer/submission";

class Memory implements Shelf {
  values = new Map<string, string>();
  getItem = (key: string): string | null => this.values.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.values.set(key, value);
  removeItem = (key: string): void => void this.values.delete(key);
}

const SUBMISSION: Submission = {
  key: "key-1",
  text: "hello",
  files: [],
  model: null,
  mode: "agent",
  effort: null,
  when_busy: "queue",
  session_id: null,
  edits: null,
  at: 1000,
};

test("a prompt on its way is there after a reload, for its own session only", () => {
  const shelf = new Memory();
  new Keep(shelf, "ses_1").outbox = SUBMISSION;
  expect(new Keep(shelf, "ses_1").outbox).toEqual(SUBMISSION);
  expect(new Keep(shelf, "ses_2").outbox).toBe(null);
  expect(new Keep(shelf, null).outbox).toBe(null);
});

test("what is no longer needed leaves nothing behind", () => {
  const shelf = new Memory();
  const keep = new Keep(shelf, "ses_1");
  keep.outbox = SUBMISSION;
  keep.files = [{ file_id: "fil_1", name: "a", media_type: "", size: 0 }];
  keep.unsaved = { text: "x", base: "" };
  keep.outbox = null;
  keep.files = [];
  keep.unsaved = null;
  expect(shelf.values.size).toBe(0);
});

test("a store that is full or broken is no reason to fail", () => {
  const broken: Shelf = {
    getItem: () => "not json",
    setItem: () => {
      throw new Error("full");
    },
    removeItem: () => undefined,
  };
  const keep = new Keep(broken, null);
  keep.outbox = SUBMISSION;
  expect(keep.outbox).toBe(null);
  expect(keep.files).toEqual([]);
});

test("an old prompt is not sent by itself", () => {
  expect(mayResend(SUBMISSION, 1000 + 59 * 60_000)).toBe(true);
  expect(mayResend(SUBMISSION, 1000 + 61 * 60_000)).toBe(false);
});

test.each([
  ["nothing was left unsaved", "server", null, "server"],
  ["typed here on top of what the server has", "ab", { text: "abc", base: "ab" }, "abc"],
  ["deleted here after the last save", "abc", { text: "ab", base: "abc" }, "ab"],
  ["written here and elsewhere", "phone", { text: "laptop", base: "" }, "phone\n\nlaptop"],
  ["sent or emptied elsewhere", "", { text: "laptop", base: "lap" }, "laptop"],
])("the text to open with: %s", (_, server, unsaved, text) => {
  expect(joined(server, unsaved)).toBe(text);
});
