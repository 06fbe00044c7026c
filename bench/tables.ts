/** Unit of the figures in a row of the report. */
type Unit = 'ms' | 'MiB' | 'KiB' | '%' | '/s';

/**
 * A bound of the median: an upper one, relative to containerd's (`ratio`) or absolute (`limit`, in the row's unit), or an absolute lower one
 * (`least`).
 */
export type Goal = { ratio: number } | { limit: number } | { least: number };

/**
 * A row of the report, with each side's samples. `podwright` uses default settings, `matched` uses containerd's CNI configuration and OCI
 * runtime.
 */
export type Row = {
  what: string;
  unit?: Unit;
  containerd?: number[];
  podwright: number[];
  matched?: number[];
  goals?: { podwright?: Goal; matched?: Goal };
  /** Whether the row is in the short table shown in the README. Default: whether it has goals. */
  inShort?: boolean;
};

export type Table = { title: string; rows: Row[]; below?: string };

/** Returns the quantile `share` (0 to 1) of the samples. */
export function quantile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: number[]): number => quantile(samples, 0.5);

/** Returns the spread of the samples: the distance from the 10th to the 90th percentile, relative to the median. */
export const spread = (samples: number[]): number =>
  (quantile(samples, 0.9) - quantile(samples, 0.1)) / median(samples);

/** Formats all rows, with each side's median, 10th and 90th percentiles, ratios and goals, as a Markdown table. */
export function fullTable({ title, rows, below = '' }: Table): string {
  const head = [
    ...['what', 'containerd', 'Podwright', 'ratio', 'goal'],
    ...['Podwright, same CNI and OCI runtime', 'ratio', 'goal'],
  ];
  const lines = rows.map((row) => [
    row.what,
    range(row.containerd, row.unit),
    ...(['podwright', 'matched'] as const).flatMap((side) => [
      range(row[side], row.unit),
      ratioText(row, side),
      verdict(row, side),
    ]),
  ]);
  return `### ${title}\n\n${markdown([head, ...lines])}\n${below}`;
}

/** Formats the short table shown in the README: medians of selected rows. */
export function summary(rows: Row[], peer: string): string {
  const head = [
    ...['what (medians)', peer, 'Podwright', 'ratio'],
    ...['with the same CNI configuration and OCI runtime', 'ratio'],
  ];
  const lines = rows
    .filter(({ goals, inShort = goals !== undefined }) => inShort)
    .map((row) => [
      row.what,
      short(row.containerd, row.unit),
      ...(['podwright', 'matched'] as const).flatMap((side) => [short(row[side], row.unit), ratioText(row, side)]),
    ]);
  return markdown([head, ...lines]);
}

/** Describes how noisy the host was, judged by the spread of containerd's figures over all rows; '' if no row has enough samples. */
export function noise(rows: Row[]): string {
  const spreads = rows.flatMap(({ containerd = [] }) => (containerd.length < 10 ? [] : [spread(containerd)]));
  if (spreads.length === 0) return '';
  const percent = (share: number) => `${(100 * quantile(spreads, share)).toFixed(0)} %`;
  return `Noise: containerd's own figures lie ${percent(0.5)} of their median apart, 10th to 90th percentile (median of ${spreads.length} rows; the worst ${percent(1)}).`;
}

function ratioOf(row: Row, side: 'podwright' | 'matched'): number | undefined {
  const samples = row[side];
  return samples === undefined || row.containerd === undefined ? undefined : median(samples) / median(row.containerd);
}

const ratioText = (row: Row, side: 'podwright' | 'matched') => ratioOf(row, side)?.toFixed(2) ?? '';

function verdict(row: Row, side: 'podwright' | 'matched'): string {
  const goal = row.goals?.[side];
  const samples = row[side];
  if (goal === undefined || samples === undefined) return '';
  const unit = row.unit ?? 'ms';
  const met = (isMet: boolean) => (isMet ? 'met' : '**missed**');
  if ('least' in goal) return `≥ ${goal.least} ${unit} ${met(median(samples) >= goal.least)}`;
  if ('limit' in goal) return `≤ ${goal.limit} ${unit} ${met(median(samples) <= goal.limit)}`;
  const [bound, ratio] = [`≤ ${goal.ratio.toFixed(2)}×`, ratioOf(row, side)];
  return ratio === undefined ? `${bound}, the peer was not measured` : `${bound} ${met(ratio <= goal.ratio)}`;
}

/** Formats samples like `12.3 (11.0–15.0)`: the median, and the 10th to the 90th percentile. */
function range(samples: number[] | undefined, unit: Unit = 'ms'): string {
  if (samples === undefined) return '';
  if (samples.length === 1) return `${digits(samples[0]!)} ${unit}`;
  return `${digits(median(samples))} (${digits(quantile(samples, 0.1))}–${digits(quantile(samples, 0.9))}) ${unit}`;
}

function short(samples: number[] | undefined, unit: Unit = 'ms'): string {
  if (samples === undefined) return '';
  const value = median(samples);
  return unit === 'ms' && value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${digits(value)} ${unit}`;
}

/** Formats a number with about three significant digits. */
export const digits = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

/** Returns a Markdown table with padded columns. The first of `rows` is the header. */
export function markdown(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line), ''].join('\n');
}
