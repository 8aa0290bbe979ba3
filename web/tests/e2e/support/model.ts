/** A model server that a test holds and releases piece by piece.
 *
 * It speaks the OpenAI wire. Each request becomes an `Exchange`: nothing is sent until the test
 * says so, and it knows when its client has closed the connection. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inTime, Waiting } from "./waiting.ts";

export interface ChatMessage {
  role: string;
  content: string | { type: string; text?: string }[] | null;
}

interface ChatRequest {
  model: string;
  reasoning_effort?: string;
  messages: ChatMessage[];
}

export type Ended = "open" | "finished" | "closed by client";
export type Script = (exchange: Exchange) => void | Promise<void>;

/** One request, and the answer that the test gives to it. */
export class Exchange {
  readonly model: string;
  readonly messages: ChatMessage[];
  readonly effort: string | undefined;
  ended: Ended = "open";
  #over: Promise<void>;
  #tokens = 0;

  constructor(
    body: ChatRequest,
    private readonly response: ServerResponse,
  ) {
    this.model = body.model;
    this.messages = body.messages;
    this.effort = body.reasoning_effort;
    this.#over = new Promise((resolve) => {
      response.on("close", () => {
        if (this.ended === "open") this.ended = "closed by client";
        resolve();
      });
    });
  }

  /** The text of the last user message. */
  get prompt(): string {
    return said(this.messages.findLast((message) => message.role === "user"));
  }

  /** All that the model is told, to look for words in it. */
  get context(): string {
    return this.messages.map(said).join("\n");
  }

  /** The headers and nothing else: a provider that thinks in silence. */
  begin(): void {
    this.#write("");
  }

  text(piece: string): void {
    this.#delta({ content: piece });
  }

  reasoning(piece: string): void {
    this.#delta({ reasoning_content: piece });
  }

  tool(id: string, name: string, input: Record<string, unknown>, index = 0): void {
    const call = { name, arguments: JSON.stringify(input) };
    this.#delta({ tool_calls: [{ index, id, type: "function", function: call }] });
  }

  finish(reason: "stop" | "tool_calls" | "length" = "stop"): void {
    this.#chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    const usage = {
      prompt_tokens: this.context.split(/\s+/).length,
      completion_tokens: this.#tokens,
    };
    this.#chunk({ choices: [], usage });
    this.#write("data: [DONE]\n\n");
    this.ended = "finished";
    this.response.end();
  }

  /** The whole answer at once. */
  say(text: string): void {
    this.text(text);
    this.finish();
  }

  fail(status: number, message: string, headers: Record<string, string> = {}): void {
    this.ended = "finished";
    this.response.writeHead(status, { "content-type": "application/json", ...headers });
    this.response.end(JSON.stringify({ error: { message, type: "error" } }));
  }

  /** Resolves when the client has closed the connection; fails if the answer was finished. */
  async closed(): Promise<void> {
    await inTime(this.#over, `the end of "${this.prompt}"`);
    if (this.ended !== "closed by client") throw new Error(`the exchange is ${this.ended}`);
  }

  drop(): void {
    this.response.destroy();
  }

  #delta(delta: Record<string, unknown>): void {
    this.#tokens++;
    this.#chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
  }

  #chunk(fields: Record<string, unknown>): void {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", model: this.model };
    this.#write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
  }

  #write(text: string): void {
    if (this.ended !== "open") throw new Error(`cannot send: the exchange is ${this.ended}`);
    if (!this.response.headersSent) {
      this.response.writeHead(200, { "content-type": "text/event-stream" });
      this.response.flushHeaders();
    }
    if (text !== "") this.response.write(text);
  }
}

export class ModelServer {
  models = ["test-model", "alpha", "beta"];
  /** What a client must show; null: anything will do. */
  key: string | null = null;
  readonly exchanges: Exchange[] = [];
  #server: Server;
  #waiting = new Waiting<Exchange>();
  #script: Script | null = null;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<ModelServer> {
    const made = new ModelServer();
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The oldest request that no one has taken yet; with words, the oldest whose prompt has them. */
  next(words = ""): Promise<Exchange> {
    return this.#waiting.take((exchange) => exchange.prompt.includes(words), `"${words}"`);
  }

  /** Let this answer every request from now on; null: the test does again. */
  script(script: Script | null): void {
    this.#script = script;
  }

  /** Nothing that an earlier test left reaches the next one. */
  forget(): void {
    this.#script = null;
    this.#waiting.clear();
    for (const exchange of this.exchanges.splice(0)) if (exchange.ended === "open") exchange.drop();
  }

  async close(): Promise<void> {
    this.forget();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of request) text += String(piece);
    if (this.key !== null && request.headers.authorization !== `Bearer ${this.key}`) {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "Incorrect API key provided" } }));
      return;
    }
    if (request.url?.endsWith("/models")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: this.models.map((id) => ({ id, object: "model" })) }));
      return;
    }
    const exchange = new Exchange(JSON.parse(text) as ChatRequest, response);
    this.exchanges.push(exchange);
    if (this.#script === null) this.#waiting.put(exchange);
    else await this.#script(exchange);
  }
}

function said(message: ChatMessage | undefined): string {
  const content = message?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("\n");
}
