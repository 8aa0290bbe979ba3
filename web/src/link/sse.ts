/** Server-sent events, cut into frames wherever the network cut the bytes. */

export interface Frame {
  /** The log it belongs to; null if the stream has only one. */
  log: string | null;
  id: number | null;
  event: string;
  data: string;
}

export class FrameParser {
  #rest = "";
  #frame = blank();

  /** The frames that this text completes. */
  push(text: string): Frame[] {
    const frames: Frame[] = [];
    const all = this.#rest + text;
    let start = 0;
    while (true) {
      const end = lineEnd(all, start);
      if (end === null) break;
      this.#line(all.slice(start, end.at), frames);
      start = end.next;
    }
    this.#rest = all.slice(start);
    return frames;
  }

  #line(line: string, frames: Frame[]): void {
    if (line === "") {
      const { data, ...rest } = this.#frame;
      if (data !== null) frames.push({ ...rest, data });
      this.#frame = blank();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const from = line[colon + 1] === " " ? colon + 2 : colon + 1;
    const value = colon < 0 ? "" : line.slice(from);
    switch (field) {
      case "log":
        this.#frame.log = value;
        break;
      case "id":
        this.#frame.id = /^\d+$/.test(value) ? Number(value) : null;
        break;
      case "event":
        this.#frame.event = value;
        break;
      case "data":
        this.#frame.data = this.#frame.data === null ? value : `${this.#frame.data}\n${value}`;
        break;
    }
  }
}

function blank(): Omit<Frame, "data"> & { data: string | null } {
  return { log: null, id: null, event: "message", data: null };
}

/** Where the line ends and the next begins; null if the end has not come yet. */
function lineEnd(text: string, from: number): { at: number; next: number } | null {
  const feed = text.indexOf("\n", from);
  const back = text.indexOf("\r", from);
  if (back < 0 || (feed >= 0 && feed < back)) {
    return feed < 0 ? null : { at: feed, next: feed + 1 };
  }
  // A line feed may follow with the next piece.
  if (back === text.length - 1) return null;
  return { at: back, next: text[back + 1] === "\n" ? back + 2 : back + 1 };
}
