/** Days and money as the chart says them. */

const short = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const long = new Intl.DateTimeFormat("en", {
  weekday: "short",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

/** "2026-11-15" → "Nov 15", or "Sun, November 15". The day is the server's: never shifted. */
export function dayName(day: string, size: "short" | "long"): string {
  const date = new Date(`${day}T00:00:00Z`);
  return (size === "short" ? short : long).format(date);
}

/** Round amounts of an axis: $0, $0.002, $5. */
export function axisMoney(usd: number): string {
  return `$${usd}`;
}
