import { escapeLine } from './terminal-text.ts';
import { wrapText } from './wrap.ts';

/** An entry of an outline: a label, the lines of text next to it, and indented children below it. */
export type OutlineEntry = { label: string; text?: string[]; below?: OutlineEntry[]; isProse?: true };

/** Returns an entry `Label:  text`, or none if the text is undefined or empty. */
export function entry(label: string, text: string | number | boolean | undefined): OutlineEntry[] {
  return text === undefined || text === '' ? [] : [{ label, text: String(text).split('\n') }];
}

/** Like `entry`, but the text consists of sentences, which may be wrapped. */
export function prose(label: string, text: string | undefined): OutlineEntry[] {
  return entry(label, text).map((one) => ({ ...one, isProse: true }));
}

/** Returns an entry with several lines, or `<none>` if there are none. */
export function lines(label: string, text: string[]): OutlineEntry {
  return { label, text: text.length === 0 ? ['<none>'] : text };
}

/** Returns an entry with children, or `<none>` if there are none. */
export function section(label: string, below: OutlineEntry[]): OutlineEntry {
  return below.length === 0 ? { label, text: ['<none>'] } : { label, below };
}

/** Returns an entry with `key=value` lines, such as labels. */
export function pairs(label: string, map: Record<string, string> | undefined, separator = '='): OutlineEntry {
  return lines(
    label,
    Object.entries(map ?? {}).map(([key, value]) => `${key}${separator}${value}`),
  );
}

/**
 * Renders the lines of an outline. Sibling texts are aligned, control characters are escaped, and sentences longer than `cells` are
 * wrapped.
 */
export function renderOutline(entries: OutlineEntry[], cells?: number, indent = ''): string[] {
  const width = Math.max(0, ...entries.filter(({ text }) => text !== undefined).map(({ label }) => label.length)) + 3;
  return entries.flatMap(({ label, text, below, isProse }) => {
    const head = `${indent}${escapeLine(label)}:`;
    const continued = ' '.repeat(indent.length + width);
    const shown = text?.flatMap((line) => line.split('\n')).map(escapeLine);
    const own = shown?.map((line, index) => (index === 0 ? head.padEnd(continued.length) : continued) + line) ?? [head];
    const broken = own.map((line) => (isProse ? wrapText(line.trimEnd(), cells) : line.trimEnd()));
    return [...broken, ...renderOutline(below ?? [], cells, `${indent}  `)];
  });
}

/** Formats a time like `kubectl describe`: `Sun, 22 Nov 2026 12:48:40 +0000`. */
export function describeTime(time: string | undefined): string | undefined {
  if (time === undefined || Number.isNaN(Date.parse(time))) return time;
  return new Date(time).toUTCString().replace('GMT', '+0000');
}
