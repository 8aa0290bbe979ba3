/** Keeps what a text that grows has not changed, so that whoever shows it has nothing to do. */

import type { Token, Tokens } from "marked";

/** The fresh blocks, with those taken from before that are the same. */
export function reuseAll(before: readonly Token[], fresh: readonly Token[]): Token[] {
  return fresh.map((token, n) => reuse(before[n], token));
}

function reuse(before: Token | undefined, fresh: Token): Token {
  if (!before || before.type !== fresh.type) return fresh;
  if (fresh.type === "list") return reuseList(before as Tokens.List, fresh as Tokens.List);
  if (fresh.type === "table") return reuseTable(before as Tokens.Table, fresh as Tokens.Table);
  return before.raw === fresh.raw && fresh.type !== "blockquote" ? before : fresh;
}

function reuseList(before: Tokens.List, fresh: Tokens.List): Token {
  const items = fresh.items.map((item, n) => {
    const old = before.items[n];
    const same = old?.raw === item.raw && old.loose === item.loose && old.task === item.task;
    return same ? old : item;
  });
  return { ...fresh, items };
}

function reuseTable(before: Tokens.Table, fresh: Tokens.Table): Token {
  const same = (a: Tokens.TableCell[] | undefined, b: Tokens.TableCell[]) =>
    a?.length === b.length &&
    b.every((cell, n) => a[n]?.text === cell.text && a[n]?.align === cell.align);
  const row = (a: Tokens.TableCell[] | undefined, b: Tokens.TableCell[]) =>
    a && same(a, b) ? a : b;
  const rows = fresh.rows.map((cells, n) => row(before.rows[n], cells));
  return { ...fresh, header: row(before.header, fresh.header), rows };
}
