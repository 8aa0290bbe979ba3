import { describe, expect, test } from "vitest";
import { fileName } from "$/shell/export";
import { askedBy, freeName, modelNames, nameMistake, urlMistake } from "$/settings/presets";
import { editable, stateOf } from "$/settings/provider";
import type { Preset, Provider } from "$/wire/settings";
import { folderName } from "$/workspaces/folder";

function provider(changes: Partial<Provider>): Provider {
  return {
    name: "work",
    kind: "openai",
    base_url: "https://llm.example.org/v1",
    key: "set",
    source: "settings",
    models: [],
    offers: 3,
    error: null,
    ...changes,
  };
}

const GROQ: Preset = {
  name: "groq",
  title: "Groq",
  kind: "openai",
  base_url: "https://api.groq.com/openai/v1",
  key: "needed",
  variable: "GROQ_API_KEY",
  about: "A key from your Groq account.",
};

describe("providers", () => {
  test("only what is needed is asked", () => {
    expect(askedBy(GROQ)).toEqual({ name: false, address: false, key: true });
    const own: Preset = { ...GROQ, key: "optional" };
    expect(askedBy(own)).toEqual({ name: false, address: true, key: false });
    expect(askedBy({ ...own, base_url: "" })).toEqual({ name: true, address: true, key: true });
    expect(askedBy(null)).toEqual({ name: true, address: true, key: true });
  });

  test("a name that is taken gets the next number", () => {
    const taken = [provider({ name: "openai" }), provider({ name: "openai-2" })];
    expect(freeName("openai", taken)).toBe("openai-3");
    expect(freeName("ollama", taken)).toBe("ollama");
    expect(freeName("", taken)).toBe("");
  });

  test("model names come one per line or with commas, each once", () => {
    expect(modelNames(" a/b,\nc  a/b\n\n")).toEqual(["a/b", "c"]);
  });

  test.each(["", "Upper", "a b", "-a", "a".repeat(33)])("%j is not a name", (name) => {
    expect(nameMistake(name)).not.toBeNull();
  });

  test("a usual name is fine", () => {
    expect(nameMistake("open-ai_2")).toBeNull();
  });

  test.each(["", "localhost:8080", "ftp://x", "http://"])("%j is not an address", (url) => {
    expect(urlMistake(url)).not.toBeNull();
  });

  test("only what was added here can be changed here", () => {
    expect(editable(provider({}))).toBe(true);
    expect(editable(provider({ source: "environment" }))).toBe(false);
  });

  test("one that cannot be asked says so, whatever it offered before", () => {
    expect(stateOf(provider({ error: "refused", offers: 3 })).kind).toBe("bad");
    expect(stateOf(provider({ offers: 1 })).word).toBe("1 model");
    expect(stateOf(provider({ offers: 0 })).kind).toBe("warm");
  });
});

test("a file gets the server's name for it, also beyond plain letters", () => {
  const disposition = "attachment; filename=\"Grue.md\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.md";
  expect(fileName(disposition, "markdown")).toBe("Grüße.md");
  expect(fileName(null, "json")).toBe("conversation.json");
  expect(fileName("attachment; filename*=UTF-8''%E0%A4%A", "markdown")).toBe("conversation.md");
});

test("a folder's name is the last piece of its path", () => {
  expect(folderName("/srv/project/")).toBe("project");
  expect(folderName("  ")).toBe("");
});
