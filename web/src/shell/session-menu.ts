import Archive from "@lucide/svelte/icons/archive";
import ArchiveRestore from "@lucide/svelte/icons/archive-restore";
import Braces from "@lucide/svelte/icons/braces";
import FileText from "@lucide/svelte/icons/file-text";
import PencilLine from "@lucide/svelte/icons/pencil-line";
import Pin from "@lucide/svelte/icons/pin";
import PinOff from "@lucide/svelte/icons/pin-off";
import Trash2 from "@lucide/svelte/icons/trash-2";
import { exportSession, type ExportFormat } from "./export";
import { app, route } from "$/state/page";
import type { MenuItem } from "$/ui/menu";
import type { Session } from "$/wire/types";
import { attempt } from "$/state/attempt";

/** What one can do with a session from outside it: the same in its row and in its header. */
export function sessionItems(session: Session, rename: () => void): MenuItem[] {
  return [
    { label: "Rename", icon: PencilLine, run: rename },
    session.pinned
      ? { label: "Unpin", icon: PinOff, run: () => pin(session, false) }
      : { label: "Pin", icon: Pin, run: () => pin(session, true) },
    {
      label: "Export as Markdown",
      icon: FileText,
      run: () => save(session, "markdown"),
      divided: true,
    },
    { label: "Export as JSON", icon: Braces, run: () => save(session, "json") },
    {
      label: session.archived ? "Restore" : "Archive",
      icon: session.archived ? ArchiveRestore : Archive,
      run: () => archive(session, !session.archived),
      divided: true,
    },
    { label: "Delete", icon: Trash2, danger: true, run: () => remove(session) },
  ];
}

export function pin(session: Session, on: boolean): void {
  void attempt(() => app.sessions.pin(session.id, on));
}

export function archive(session: Session, on: boolean): void {
  leave(session);
  void attempt(async () => {
    await app.sessions.archive(session.id, on);
    const undo = (): Promise<void> => app.sessions.archive(session.id, !on);
    const action = { label: "Undo", do: () => void attempt(undo) };
    app.say(on ? "Archived." : "Restored.", { action });
  });
}

export function remove(session: Session): void {
  leave(session);
  void attempt(() => app.sessions.remove(session.id));
}

export function rename(session: Session, title: string | null): void {
  if (title !== null) void attempt(() => app.sessions.rename(session.id, title));
}

export function save(session: Session, format: ExportFormat): void {
  void attempt(() => exportSession(session.id, format));
}

function leave(session: Session): void {
  if (route.page === "session" && route.id === session.id) route.go("/");
}
