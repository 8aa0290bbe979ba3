import { undo } from "$/changes/undo";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import CircleQuestionMark from "@lucide/svelte/icons/circle-question-mark";
import Columns2 from "@lucide/svelte/icons/columns-2";
import Cpu from "@lucide/svelte/icons/cpu";
import Folder from "@lucide/svelte/icons/folder";
import MessageSquare from "@lucide/svelte/icons/message-square";
import PanelLeft from "@lucide/svelte/icons/panel-left";
import PanelRight from "@lucide/svelte/icons/panel-right";
import Settings from "@lucide/svelte/icons/settings";
import SquarePen from "@lucide/svelte/icons/square-pen";
import SunMoon from "@lucide/svelte/icons/sun-moon";
import { app, panels, route } from "$/state/page";
import { relative } from "$/ui/format";
import type { Session } from "$/wire/types";
import { newSession } from "./actions";
import { attempt } from "$/state/attempt";
import type { Command } from "./commands";
import { fuzzy } from "./fuzzy";
import { sessionItems } from "./session-menu";
import { SETTINGS } from "./settings-pages";

/** Sessions whose name the palette knows; older ones are found by the server's search. */
const KNOWN = 500;

/** Everything the palette offers now; `found` is what the server's search knows of the query. */
export function commandList(found: readonly Session[], query: string): Command[] {
  return [...sessions(found, query), ...actions(), ...thisSession(), ...models(), ...places()];
}

function sessions(found: readonly Session[], query: string): Command[] {
  const known = new Map(app.sessions.items.slice(0, KNOWN).map((one) => [one.id, one]));
  const inText: Session[] = [];
  for (const session of found) {
    // Not by its name, so by what was said in it.
    if (!fuzzy(query, session.title)) inText.push(session);
    else known.set(session.id, session);
  }
  return [
    ...[...known.values()].map((session) => opening(session)),
    ...inText.map((session) => ({ ...opening(session), group: "Found in the text", sure: true })),
  ];
}

function opening(session: Session): Command {
  return {
    id: `session ${session.id}`,
    group: "Sessions",
    label: session.title || "New session",
    hint: relative(session.updated_at),
    icon: MessageSquare,
    run: () => route.go(`/s/${session.id}`),
  };
}

function actions(): Command[] {
  const group = "Actions";
  return [
    {
      id: "new",
      group,
      label: "New session",
      icon: SquarePen,
      keys: "Mod-Shift-O",
      run: newSession,
    },
    {
      id: "compare",
      group,
      label: "Compare models",
      icon: Columns2,
      run: () => route.go("/compare"),
    },
    {
      id: "sidebar",
      group,
      label: panels.sidebar ? "Hide the sidebar" : "Show the sidebar",
      icon: PanelLeft,
      keys: "Mod-B",
      run: () => (panels.sidebar = !panels.sidebar),
    },
    {
      id: "details",
      group,
      label: panels.details ? "Hide the details" : "Show the details",
      icon: PanelRight,
      keys: "Mod-I",
      run: () => (panels.details = !panels.details),
    },
    {
      id: "help",
      group,
      label: "Help and shortcuts",
      icon: CircleQuestionMark,
      keys: "?",
      run: help,
    },
    ...(["system", "light", "dark"] as const)
      .filter((theme) => theme !== app.theme)
      .map((theme) => ({
        id: `theme ${theme}`,
        group,
        label: theme === "system" ? "Theme: as the system" : `Theme: ${theme}`,
        words: "appearance colours",
        icon: SunMoon,
        run: () => app.setTheme(theme),
      })),
    ...app.workspaces
      .filter((workspace) => workspace.id !== app.workspace.id)
      .map((workspace) => ({
        id: `workspace ${workspace.id}`,
        group,
        label: `Workspace: ${workspace.name}`,
        words: workspace.path,
        icon: Folder,
        run: () => {
          app.setWorkspace(workspace.id);
          route.go("/");
        },
      })),
  ];
}

function thisSession(): Command[] {
  const conversation = app.conversation;
  const session = conversation?.session;
  if (!conversation || !session) return [];
  const group = "This session";
  const outside = sessionItems(session, () => (panels.renaming = true)).map((item) => ({
    id: `this ${item.label}`,
    group,
    ...item,
    hint: undefined,
  }));
  const idle = conversation.active === null && conversation.rows.length > 0;
  const inside: Command[] = !idle
    ? []
    : [
        {
          id: "fork",
          group,
          label: "Fork into a new session",
          run: () => void attempt(async () => route.go(`/s/${(await conversation.fork()).id}`)),
        },
        {
          id: "undo",
          group,
          label: "Undo last turn",
          run: () => void undo(conversation),
        },
        {
          id: "compact",
          group,
          label: "Compact",
          run: () => void attempt(() => conversation.compact()),
        },
      ];
  return [...inside, ...outside];
}

function models(): Command[] {
  const conversation = app.conversation;
  if (!conversation) return [];
  const chosen = conversation.session?.model ?? app.defaultModel;
  return app.models.map((model) => ({
    id: `model ${model.id}`,
    group: "Models",
    label: `Use ${model.name}`,
    words: model.id,
    hint: model.id === chosen ? "in use" : model.provider,
    icon: Cpu,
    run: () => void attempt(() => conversation.update({ model: model.id })),
  }));
}

function places(): Command[] {
  const group = "Settings";
  return [
    ...SETTINGS.map(({ section, label, words }) => ({
      id: `settings ${section}`,
      group,
      label,
      words,
      icon: Settings,
      run: () => route.go(`/settings/${section}`),
    })),
    { id: "usage", group, label: "Usage", words: "cost tokens", icon: ChartColumn, run: usage },
  ];
}

function help(): void {
  panels.help = true;
}

function usage(): void {
  route.go("/usage");
}
