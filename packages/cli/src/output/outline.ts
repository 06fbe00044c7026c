import { escapeLine } from './terminal-text.ts';
import { wrapText } from './wrap.ts';

/** One line of an outline: a label, what stands beside it (more lines below each other), and what belongs to it, indented. */
export type OutlineEntry = { label: string; text?: string[]; below?: OutlineEntry[]; isProse?: true };

/** `Label:  text`; undefined and '' leave the entry out. */
export function entry(label: string, text: string | number | boolean | undefined): OutlineEntry[] {
  return text === undefined || text === '' ? [] : [{ label, text: String(text).split('\n') }];
}

/** The same for sentences, which may be broken between words. */
export function prose(label: string, text: string | undefined): OutlineEntry[] {
  return entry(label, text).map((one) => ({ ...one, isProse: true }));
}

/** An entry with lines below each other, `<none>` if there are none. */
export function lines(label: string, text: string[]): OutlineEntry {
  return { label, text: text.length === 0 ? ['<none>'] : text };
}

/** An entry with others below it, `<none>` if there are none. */
export function section(label: string, below: OutlineEntry[]): OutlineEntry {
  return below.length === 0 ? { label, text: ['<none>'] } : { label, below };
}

/** `key=value` lines of labels and the like. */
export function pairs(label: string, map: Record<string, string> | undefined, separator = '='): OutlineEntry {
  return lines(
    label,
    Object.entries(map ?? {}).map(([key, value]) => `${key}${separator}${value}`),
  );
}

/**
 * The lines of an outline; texts of siblings begin in one column. What a terminal would act on is escaped, and sentences that are
 * longer than `cells` are broken.
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

/** A time as kubectl describes it: `Sun, 22 Nov 2026 12:48:40 +0000`. */
export function describeTime(time: string | undefined): string | undefined {
  if (time === undefined || Number.isNaN(Date.parse(time))) return time;
  return new Date(time).toUTCString().replace('GMT', '+0000');
}
