/** The prompt in a user message: what was typed, and what was attached. */

import type { FilePart, Input, InputPart, Message } from "$/wire/types";

export function typedText(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** What the model was told in the place of a command; null: what was typed. */
export function meaning(message: Message): string | null {
  for (const part of message.parts) if (part.type === "text" && part.expanded) return part.expanded;
  return null;
}

export function attachedFiles(message: Message): FilePart[] {
  return message.parts.filter((part) => part.type === "file");
}

/** The prompt again with another text; what was attached stays. */
export function rewritten(message: Message, text: string): Input {
  const files = attachedFiles(message);
  if (files.length === 0) return text;
  const words: InputPart[] = text.trim() === "" ? [] : [{ type: "text", text }];
  return [...words, ...files.map((file): InputPart => ({ type: "file", file_id: file.file_id }))];
}
