import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Line } from "$/compare/line";
import { Problem } from "$/link/problem";

let server: Server;
let path: string;
let answer: (response: ServerResponse) => void;
let left: Promise<void>;

beforeEach(async () => {
  server = createServer((request, response) => {
    left = new Promise((resolve) => response.on("close", resolve));
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  path = `http://127.0.0.1:${address.port}/runs`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function begin(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(": here\n\n");
}

test("it is open once the server has accepted, and ends with the server's stream", async () => {
  let held: ServerResponse | undefined;
  answer = (response) => begin((held = response));
  const line = await Line.open(path, {}, new AbortController().signal);
  held?.end();
  await line.ended;
});

test("closing it closes the connection, and it ends without an error", async () => {
  answer = begin;
  const line = await Line.open(path, {}, new AbortController().signal);
  line.close();
  await line.ended;
  await left;
});

test("given up before the server has answered, nothing stays open", async () => {
  const given = new AbortController();
  answer = () => given.abort();
  await expect(Line.open(path, {}, given.signal)).rejects.toThrow();
  await left;
});

test("a refusal is the server's own words", async () => {
  answer = (response) => {
    response.writeHead(409, { "Content-Type": "application/problem+json" });
    response.end(JSON.stringify({ code: "session_busy", detail: "wait" }));
  };
  const refused = Line.open(path, {}, new AbortController().signal);
  await expect(refused).rejects.toMatchObject({ code: "session_busy", detail: "wait" });
});

test("a server out of reach is said as that", async () => {
  server.close();
  const lost = Line.open("http://127.0.0.1:1/", {}, new AbortController().signal);
  await expect(lost).rejects.toBeInstanceOf(Problem);
});
