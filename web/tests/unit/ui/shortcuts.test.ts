import { expect, test, vi } from "vitest";
import { matches, Shortcuts, type Shortcut } from "$/ui/shortcuts";

function pressed(key: string, held: Partial<KeyboardEvent> = {}): KeyboardEvent {
  return {
    key,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    isComposing: false,
    defaultPrevented: false,
    target: null,
    preventDefault: vi.fn(),
    ...held,
  } as unknown as KeyboardEvent;
}

function shortcut(keys: string, more: Partial<Shortcut> = {}): Shortcut {
  return { keys, does: keys, group: "Anywhere", run: vi.fn(), ...more };
}

test("Mod is Ctrl here and the command key on a Mac", () => {
  expect(matches("Mod-K", pressed("k", { ctrlKey: true }), false)).toBe(true);
  expect(matches("Mod-K", pressed("k", { metaKey: true }), true)).toBe(true);
  expect(matches("Mod-K", pressed("k", { ctrlKey: true }), true)).toBe(false);
});

test("a key with more modifiers than asked for is another key", () => {
  expect(matches("Mod-O", pressed("O", { ctrlKey: true, shiftKey: true }), false)).toBe(false);
  expect(matches("Mod-Shift-O", pressed("O", { ctrlKey: true, shiftKey: true }), false)).toBe(true);
  expect(matches("Escape", pressed("Escape", { shiftKey: true }), false)).toBe(false);
});

test("a sign is the sign, with or without Shift", () => {
  expect(matches("?", pressed("?", { shiftKey: true }), false)).toBe(true);
  expect(matches("Mod-/", pressed("/", { ctrlKey: true, shiftKey: true }), false)).toBe(true);
});

test("the one added last decides first, and gives way when it does not apply", () => {
  const keys = new Shortcuts();
  const first = shortcut("Escape");
  let applies = true;
  const last = shortcut("Escape", { when: () => applies });
  keys.add(first);
  keys.add(last);
  keys.handle(pressed("Escape"), false);
  applies = false;
  keys.handle(pressed("Escape"), false);
  expect(last.run).toHaveBeenCalledOnce();
  expect(first.run).toHaveBeenCalledOnce();
});

test("a removed shortcut does nothing", () => {
  const keys = new Shortcuts();
  const one = shortcut("?");
  keys.add(one)();
  expect(keys.handle(pressed("?"), false)).toBe(false);
  expect(one.run).not.toHaveBeenCalled();
});

test("nothing runs while an input method composes, or when the event was taken", () => {
  const keys = new Shortcuts();
  keys.add(shortcut("Escape"));
  expect(keys.handle(pressed("Escape", { isComposing: true }), false)).toBe(false);
  expect(keys.handle(pressed("Escape", { defaultPrevented: true }), false)).toBe(false);
});

test("keys that an element handles itself are listed and not run", () => {
  const keys = new Shortcuts();
  keys.add(shortcut("Enter", { run: null, group: "Writing" }), shortcut("?"));
  expect(keys.handle(pressed("Enter"), false)).toBe(false);
  expect(keys.list().map(({ group }) => group)).toEqual(["Anywhere", "Writing"]);
});

test("the help lists the same key and meaning once", () => {
  const keys = new Shortcuts();
  keys.add(shortcut("Escape", { does: "Stop" }), shortcut("Escape", { does: "Stop" }));
  expect(keys.list()[0]?.items).toHaveLength(1);
});
