/** Numbers, money, times and sizes in words, the same way all over the page. */

const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const exactTime = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "medium" });
const hourAndSecond = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndMonth = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const monthAndYear = new Intl.DateTimeFormat("en", { month: "short", year: "numeric" });

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 1204 → "1,204" */
export function number(value: number): string {
  return integer.format(value);
}

/** 128000 → "128k", 1250 → "1.3k"; for places where the exact number does not fit. */
export function short(value: number): string {
  for (const [limit, unit] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value < limit) continue;
    const scaled = value / limit;
    return `${scaled < 10 ? Number(scaled.toFixed(1)) : Math.round(scaled)}${unit}`;
  }
  return number(value);
}

/** Dollars; small amounts keep two digits that say something: 0.00412 → "$0.0041". */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "–";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "under $0.0001";
  if (usd >= 1)
    return `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}

/** Seconds: 0.12 → "0.1 s", 9.21 → "9.2 s", 75 → "1 min 15 s", 7260 → "2 h 1 min" */
export function duration(seconds: number): string {
  if (seconds < 0.05) return "0 s";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return joined(Math.floor(whole / MINUTE), "min", whole % MINUTE, "s");
  const minutes = Math.round(whole / MINUTE);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

/** Seconds between two times on the wire. */
export function between(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);
}

/** "now", "4 min", "3 h", "2 d", then the date: short enough for the end of a row. */
export function relative(at: string | number, now: number = Date.now()): string {
  const then = typeof at === "number" ? at : Date.parse(at);
  const seconds = Math.max(0, (now - then) / 1000);
  if (seconds < MINUTE) return "now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  if (seconds < 7 * DAY) return `${Math.floor(seconds / DAY)} d`;
  const sameYear = new Date(then).getFullYear() === new Date(now).getFullYear();
  return (sameYear ? dayAndMonth : monthAndYear).format(then);
}

/** The full date and time, for the tooltip. */
export function exact(at: string | number): string {
  return exactTime.format(typeof at === "number" ? at : Date.parse(at));
}

/** The hour, minute and second here: "12:03:20". */
export function timeOfDay(at: string): string {
  return hourAndSecond.format(Date.parse(at));
}

/** 1536 → "1.5 KB" */
export function bytes(count: number): string {
  if (count < 1024) return `${number(count)} B`;
  let size = count;
  for (const unit of ["KB", "MB", "GB"]) {
    size /= 1024;
    if (size < 1024 || unit === "GB")
      return `${size < 10 ? size.toFixed(1) : number(size)} ${unit}`;
  }
  return "";
}

/** plural(1, "file") → "1 file"; plural(3, "file") → "3 files" */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

function joined(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}
