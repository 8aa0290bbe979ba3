/** Places in the queue: 0 is next. `position` is what the server takes: the place in the rest. */

export function moved(order: readonly string[], id: string, position: number): string[] {
  if (!order.includes(id)) return [...order];
  const rest = order.filter((other) => other !== id);
  const place = Math.max(0, Math.min(position, rest.length));
  return [...rest.slice(0, place), id, ...rest.slice(place)];
}

/** Where a step up or down leads, or null at the end. */
export function stepped(order: readonly string[], id: string, by: -1 | 1): number | null {
  const from = order.indexOf(id);
  const to = from + by;
  return from < 0 || to < 0 || to >= order.length ? null : to;
}

/** Where a row ends up that is dropped on the upper or lower half of another; null: nowhere new. */
export function dropped(
  order: readonly string[],
  id: string,
  over: string,
  half: "upper" | "lower",
): number | null {
  if (id === over || !order.includes(id) || !order.includes(over)) return null;
  const rest = order.filter((other) => other !== id);
  const position = rest.indexOf(over) + (half === "lower" ? 1 : 0);
  return position === order.indexOf(id) ? null : position;
}
