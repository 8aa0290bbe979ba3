import type { Input, InputPart, Message, Run } from "./types";

/** A file as prompts name it; the server fills in the rest of what describes it. */
export interface Enclosed {
  file_id: string;
  name: string;
  media_type: string;
  size: number;
}

/** A prompt without files is plain text; files come before the text that speaks of them. */
export function toInput(text: string, files: readonly Enclosed[]): Input {
  if (files.length === 0) return text;
  const parts: InputPart[] = files.map((file) => ({ type: "file", file_id: file.file_id }));
  if (text.trim() !== "") parts.push({ type: "text", text });
  return parts;
}

export function textOf(input: Input): string {
  if (typeof input === "string") return input;
  return input
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim();
}

export function filesOf(input: Input): Enclosed[] {
  if (typeof input === "string") return [];
  return input.flatMap((part) => (part.type === "file" ? [enclosed(part)] : []));
}

/** What a user message says and carries, to be edited. */
export function promptOf(message: Message): { text: string; files: Enclosed[] } {
  const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const files = message.parts.flatMap((part) => (part.type === "file" ? [enclosed(part)] : []));
  return { text: text.join("\n").trim(), files };
}

/** A changed text in place of a queued run's, with its files kept. */
export function withText(run: Run, text: string): Input {
  return toInput(text, filesOf(run.input));
}

function enclosed(part: { file_id: string } & Partial<Enclosed>): Enclosed {
  return {
    file_id: part.file_id,
    name: part.name || "file",
    media_type: part.media_type ?? "",
    size: part.size ?? 0,
  };
}
