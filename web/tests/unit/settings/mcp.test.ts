import { describe, expect, it } from "vitest";
import { draftOf, lineOf, secrets, words } from "$/settings/mcp";

describe("a command line", () => {
  it.each([
    ["npx -y server .", ["npx", "-y", "server", "."]],
    [`run "two words" 'and "more"'`, ["run", "two words", 'and "more"']],
    [`say "a \\"b\\""`, ["say", 'a "b"']],
    ["  spaced   out ", ["spaced", "out"]],
    ["", []],
  ])("%s is read in words", (line, found) => {
    expect(words(line)).toEqual(found);
  });

  it("with an open quote is none", () => {
    expect(words('run "it')).toBeNull();
  });

  it("is written so that it reads the same", () => {
    const args = ["plain", "two words", 'a "b"', "back\\slash", ""];
    expect(words(lineOf("x", args))).toEqual(["x", ...args]);
  });
});

describe("secrets", () => {
  it("are a name and a value a line, and a name alone keeps what is there", () => {
    expect(secrets("A=1=2\n\n B = x \nKEPT", "=")).toEqual({ A: "1=2", B: "x", KEPT: null });
    expect(secrets("Authorization: Bearer x", ":")).toEqual({ Authorization: "Bearer x" });
  });

  it("that are neither are refused", () => {
    expect(secrets("two words", "=")).toBeNull();
    expect(secrets("=x", "=")).toBeNull();
  });
});

describe("what is typed", () => {
  const typed = { name: "n", secret: "", trust: false };

  it("is a program or an address", () => {
    expect(draftOf({ ...typed, reach: "npx server" })).toEqual({
      command: "npx",
      args: ["server"],
      env: {},
      trust: false,
    });
    expect(draftOf({ ...typed, reach: " https://x/mcp ", secret: "K: v" })).toEqual({
      url: "https://x/mcp",
      headers: { K: "v" },
      trust: false,
    });
  });

  it("says which field is wrong", () => {
    expect(draftOf({ ...typed, reach: " " })).toMatchObject({ field: "reach" });
    expect(draftOf({ ...typed, reach: 'x "' })).toMatchObject({ field: "reach" });
    expect(draftOf({ ...typed, reach: "x", secret: "a b" })).toMatchObject({ field: "secret" });
  });
});
