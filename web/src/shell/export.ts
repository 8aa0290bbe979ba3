/** Saves a session as a file on this device. */

import { Problem, unreachable } from "$/link/problem";

export type ExportFormat = "markdown" | "json";

export function exportPath(id: string, format: ExportFormat): string {
  return `/api/sessions/${encodeURIComponent(id)}/export?format=${format}`;
}

/** The name that the server gives the file. */
export function fileName(disposition: string | null, format: ExportFormat): string {
  const spelt = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  try {
    if (spelt) return decodeURIComponent(spelt);
  } catch {
    // Not spelt as it should be: the plain name will do.
  }
  return `conversation.${format === "markdown" ? "md" : "json"}`;
}

/** Fetches before it saves, so that a refusal is an error here and not a file full of it. */
export async function exportSession(id: string, format: ExportFormat): Promise<void> {
  const answer = await fetch(exportPath(id, format)).catch(() => null);
  if (!answer) throw unreachable();
  if (!answer.ok) {
    throw new Problem(answer.status, "internal", "The session could not be saved as a file.");
  }
  save(await answer.blob(), fileName(answer.headers.get("Content-Disposition"), format));
}

function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this returns, and says nowhere when it is done.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
