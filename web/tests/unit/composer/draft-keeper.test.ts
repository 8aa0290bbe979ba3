import { expect, test } from "vitest";
import { DraftKeeper } from "$/composer/draft-keeper";

function keeper(server = "", clock = { now: 0 }): DraftKeeper {
  return new DraftKeeper(server, () => clock.now);
}

function save(draft: DraftKeeper, text: string): void {
  draft.type(text);
  expect(draft.take()).toBe(text);
  draft.saved(text);
}

test("what another device wrote is taken while nothing is typed here", () => {
  const draft = keeper();
  expect(draft.hear("from the phone")).toBe(true);
  expect(draft.text).toBe("from the phone");
  expect(draft.take()).toBe(null);
});

test("what is typed here is not overwritten by another device", () => {
  const draft = keeper("old");
  draft.type("old and mine");
  expect(draft.hear("from the phone")).toBe(false);
  expect(draft.text).toBe("old and mine");
  expect(draft.take()).toBe("old and mine");
});

test("what is on its way to the server is not overwritten either", () => {
  const draft = keeper();
  draft.type("mine");
  draft.take();
  expect(draft.hear("from the phone")).toBe(false);
  expect(draft.text).toBe("mine");
});

test("an echo of an older save does not take letters back", () => {
  const draft = keeper();
  draft.type("ab");
  draft.take();
  draft.type("abc");
  draft.take();
  expect(draft.hear("ab")).toBe(false);
  expect(draft.hear("abc")).toBe(false);
  expect(draft.text).toBe("abc");
});

test("two saves that arrived in the wrong order are followed by a third", () => {
  const draft = keeper();
  save(draft, "ab");
  save(draft, "abc");
  expect(draft.hear("ab")).toBe(false);
  expect(draft.text).toBe("abc");
  expect(draft.take()).toBe("abc");
});

test("an old text of mine is taken again when it comes much later", () => {
  const clock = { now: 0 };
  const draft = keeper("", clock);
  save(draft, "hello");
  save(draft, "");
  clock.now = 60_000;
  expect(draft.hear("hello")).toBe(true);
  expect(draft.text).toBe("hello");
});

test("a save that was lost is taken again", () => {
  const draft = keeper();
  draft.type("kept");
  expect(draft.take()).toBe("kept");
  draft.lost("kept");
  expect(draft.take()).toBe("kept");
});

test("an emptied draft is saved as empty", () => {
  const draft = keeper("something");
  draft.type("");
  expect(draft.take()).toBe("");
});

test("a text that was sent before its draft was saved leaves no draft behind", () => {
  const draft = keeper();
  draft.type("hello");
  draft.take();
  draft.type("");
  expect(draft.take()).toBe("");
  draft.saved("hello");
  draft.saved("");
  expect(draft.dirty).toBe(false);
});

test("the same text is not saved twice at a time", () => {
  const draft = keeper();
  draft.type("hello");
  expect(draft.take()).toBe("hello");
  expect(draft.take()).toBe(null);
});
