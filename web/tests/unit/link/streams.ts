/** Streams that a test opens, feeds and breaks, in place of the network. */

export class FakeStream {
  readonly query: URLSearchParams;
  aborted = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #answer: (response: Response) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  readonly response: Promise<Response>;

  constructor(url: string, signal: AbortSignal | null) {
    this.query = new URL(url, "http://here").searchParams;
    this.response = new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
    signal?.addEventListener("abort", () => {
      this.aborted = true;
      this.#fail(new Error("aborted"));
      this.#controller?.error(new Error("aborted"));
    });
  }

  logs(): string[] {
    return [...this.query.getAll("session"), ...this.query.getAll("workspace")].sort();
  }

  async open(): Promise<void> {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.#answer(new Response(body));
    await settled();
  }

  async refuse(status: number): Promise<void> {
    this.#answer(new Response(null, { status }));
    await settled();
  }

  async fail(): Promise<void> {
    this.#fail(new Error("no network"));
    await settled();
  }

  async send(text: string): Promise<void> {
    this.#controller?.enqueue(new TextEncoder().encode(text));
    await settled();
  }

  snapshot(log: string, seq: number): Promise<void> {
    return this.send(`log: ${log}\nid: ${seq}\nevent: snapshot\ndata: {"seq":${seq}}\n\n`);
  }

  event(log: string, seq: number, type = "part.delta"): Promise<void> {
    return this.send(`log: ${log}\nid: ${seq}\nevent: ${type}\ndata: {"seq":${seq}}\n\n`);
  }

  gone(log: string): Promise<void> {
    return this.send(`log: ${log}\nevent: gone\ndata: {"log":"${log}"}\n\n`);
  }

  async end(): Promise<void> {
    this.#controller?.close();
    await settled();
  }
}

export class FakeNetwork {
  readonly streams: FakeStream[] = [];
  readonly fetch: typeof fetch = (input, init) => {
    const stream = new FakeStream(String(input), init?.signal ?? null);
    this.streams.push(stream);
    return stream.response;
  };

  get last(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error("nothing was asked for");
    return stream;
  }
}

/** Let everything happen that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}
