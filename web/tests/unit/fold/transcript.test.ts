import { describe, expect, test } from "vitest";
import { Transcript } from "$/fold/transcript";
import type { Event, Message, Snapshot } from "$/wire/types";
import { golden, type Told } from "./golden";

/** All that a fold shows, without the order in which it came to know runs. */
function shown(transcript: Transcript) {
  return {
    head: transcript.head,
    messages: transcript.messages(),
    session: { ...transcript.session, head: transcript.head },
    runs: [...transcript.runs.values()].sort((a, b) => a.accept_number - b.accept_number),
    pending: [...transcript.approvals.values()].filter((one) => one.state === "pending"),
    queue: transcript.queue,
    compactions: transcript.compactions,
    deleted: transcript.deleted,
  };
}

function saidBy(snapshot: Snapshot): ReturnType<typeof shown> {
  return {
    head: snapshot.seq,
    messages: snapshot.messages,
    session: snapshot.session,
    runs: snapshot.runs,
    pending: snapshot.approvals,
    queue: snapshot.queue,
    compactions: snapshot.compactions,
    deleted: false,
  };
}

function foldedTo(told: Told, seq: number): Transcript {
  const transcript = new Transcript();
  if (told.session.head === 0) transcript.session = told.session;
  for (const event of told.events.slice(0, seq)) {
    expect(transcript.apply(event)).toBe("applied");
    if (event.seq === told.session.head) transcript.session = told.session;
  }
  return transcript;
}

test("the golden files are there", () => {
  expect(golden.length).toBeGreaterThanOrEqual(11);
});

describe.each(golden)("$name", (told) => {
  test("folds to what the server said at each cursor", () => {
    for (const snapshot of told.snapshots) {
      expect(shown(foldedTo(told, snapshot.seq))).toEqual(saidBy(snapshot));
    }
  });

  test("a snapshot and the events after it come to the same as all events", () => {
    const whole = shown(foldedTo(told, told.events.length));
    for (const snapshot of told.snapshots) {
      const transcript = Transcript.of(snapshot);
      for (const event of told.events) transcript.apply(event);
      expect(shown(transcript)).toEqual(whole);
    }
  });

  test("what came before is not applied again", () => {
    const transcript = foldedTo(told, told.events.length);
    const before = shown(transcript);
    for (const event of told.events) expect(transcript.apply(event)).toBe("seen");
    expect(shown(transcript)).toEqual(before);
  });

  test("what was shown is never changed afterwards", () => {
    const transcript = new Transcript();
    transcript.session = told.session;
    const kept: { shown: Message[]; copy: string }[] = [];
    for (const event of told.events) {
      transcript.apply(event);
      const messages = transcript.messages();
      kept.push({ shown: messages, copy: JSON.stringify(messages) });
    }
    for (const { shown, copy } of kept) expect(JSON.stringify(shown)).toBe(copy);
  });
});

describe("identity", () => {
  const told = golden.find(({ name }) => name === "tools");

  test("messages and parts that did not change stay the same objects", () => {
    if (told === undefined) throw new Error("no golden file");
    const transcript = new Transcript();
    let before: Message[] = [];
    for (const event of told.events) {
      transcript.apply(event);
      const { messages: touched } = transcript.take();
      const now = transcript.messages();
      for (const message of now) {
        const old = before.find(({ id }) => id === message.id);
        if (!touched.has(message.id)) expect(message).toBe(old);
        const changed = partOf(event);
        for (const part of message.parts) {
          const known = old?.parts.find(({ id }) => id === part.id);
          if (known !== undefined && part.id !== changed) expect(part).toBe(known);
        }
      }
      before = now;
    }
  });
});

function partOf(event: Event): string | null {
  if (event.type === "part.delta") return event.part_id;
  return event.type === "part.updated" || event.type === "part.started" ? event.part.id : null;
}

describe("what does not fit together is said to be torn", () => {
  const told = golden.find(({ name }) => name === "streaming");
  if (told === undefined) throw new Error("no golden file");
  const delta = told.events.findIndex(({ type }) => type === "part.delta");

  test("a gap", () => {
    const transcript = foldedTo(told, delta);
    const later = told.events[delta + 1];
    if (later === undefined) throw new Error("no event");
    expect(transcript.apply(later)).toBe("torn");
  });

  test("an offset in UTF-16 units, not in code points", () => {
    const transcript = foldedTo(told, told.events.length);
    const event = told.events.findLast((one) => one.type === "part.delta" && one.offset > 0);
    if (event?.type !== "part.delta") throw new Error("no event");
    const seq = transcript.head + 1;
    expect(transcript.apply({ ...event, seq, offset: event.offset + 1 })).toBe("torn");
  });
});

test("a summary keeps the part in which it ends", () => {
  const told = golden.find(({ name }) => name === "compacted");
  const event = told?.events.find(({ type }) => type === "session.compacted");
  if (told === undefined || event?.type !== "session.compacted") throw new Error("no golden file");
  const transcript = foldedTo(told, event.seq - 1);
  transcript.apply({ ...event, through_part_id: "prt_inside" });
  const { through_message_id, summary } = event;
  const kept = { through_message_id, through_part_id: "prt_inside", summary };
  expect(transcript.compactions).toEqual([kept]);
});

test("older messages go before the others, once", () => {
  const told = golden.find(({ name }) => name === "rewritten");
  const snapshot = told?.snapshots[0];
  if (told === undefined || snapshot === undefined) throw new Error("no golden file");
  const late = { ...snapshot, messages: snapshot.messages.slice(-2), more: true };
  const transcript = Transcript.of(late);
  transcript.take();
  transcript.prepend(snapshot.messages.slice(0, -1), false);
  expect(transcript.messages()).toEqual(snapshot.messages);
  expect(transcript.more).toBe(false);
  expect(transcript.take().list).toBe(true);
});

test("an event costs no more in a long session than in a short one", () => {
  const told = golden.find(({ name }) => name === "streaming");
  const snapshot = told?.snapshots.find((one) =>
    one.messages.some((message) => message.finish_reason === null),
  );
  if (told === undefined || snapshot === undefined) throw new Error("no golden file");
  const looked = { messages: 0 };
  const old = snapshot.messages[0];
  if (old === undefined) throw new Error("no message");
  const many = Array.from({ length: 10_000 }, (_, n) =>
    counted({ ...old, id: `old_${n}` }, looked),
  );
  const transcript = Transcript.of({ ...snapshot, messages: [...many, ...snapshot.messages] });
  transcript.take();
  looked.messages = 0;
  for (const event of told.events) {
    transcript.apply(event);
    for (const id of transcript.take().messages) transcript.message(id);
  }
  expect(looked.messages).toBe(0);
});

/** A message that counts who looks at it. */
function counted(message: Message, looked: { messages: number }): Message {
  return new Proxy(message, {
    get(target, name) {
      looked.messages += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
}
