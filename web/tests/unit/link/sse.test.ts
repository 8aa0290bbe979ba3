import { expect, test } from "vitest";
import { FrameParser, type Frame } from "$/link/sse";

const STREAM =
  ": still here\n\n" +
  'log: ses_1\nid: 7\nevent: part.delta\ndata: {"text":"né🎈"}\n\n' +
  "event: gone\ndata: {}\n\n" +
  "data: one\ndata: two\n\n" +
  "id: x\ndata:no space\n\n";
const FRAMES: Frame[] = [
  { log: "ses_1", id: 7, event: "part.delta", data: '{"text":"né🎈"}' },
  { log: null, id: null, event: "gone", data: "{}" },
  { log: null, id: null, event: "message", data: "one\ntwo" },
  { log: null, id: null, event: "message", data: "no space" },
];

function parsed(...pieces: string[]): Frame[] {
  const parser = new FrameParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test("frames are read with all their fields", () => {
  expect(parsed(STREAM)).toEqual(FRAMES);
});

test.each(["\n", "\r\n", "\r"])("lines may end with %j, cut anywhere", (end) => {
  const stream = STREAM.replaceAll("\n", end) + ":" + end;
  for (let at = 0; at <= stream.length; at++) {
    expect(parsed(stream.slice(0, at), stream.slice(at))).toEqual(FRAMES);
  }
  expect(parsed(...stream)).toEqual(FRAMES);
});

test("a frame that has not ended is not given", () => {
  expect(parsed("id: 1\ndata: x\n")).toEqual([]);
});

test("a frame without data is none", () => {
  expect(parsed("id: 1\nevent: x\n\n")).toEqual([]);
});
