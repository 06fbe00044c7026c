/** The value below which `share` of the sorted samples lie. */
export function quantile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: number[]): number => quantile(samples, 0.5);

/** `12.3 (15.0)`: median and 90th percentile in ms. */
export function milliseconds(samples: number[]): string {
  return `${median(samples).toFixed(1)} (${quantile(samples, 0.9).toFixed(1)})`;
}

/** A line of the report: what, ours, theirs, the ratio, and the goal. */
export type Row = { what: string; podwright: string; containerd: string; ratio?: number; goal?: string; met?: boolean };

export function ratioRow(
  what: string,
  samples: { podwright: number[]; containerd: number[] },
  goal: number | undefined,
): Row {
  const ratio = median(samples.podwright) / median(samples.containerd);
  return {
    what,
    podwright: milliseconds(samples.podwright),
    containerd: milliseconds(samples.containerd),
    ratio,
    goal: goal === undefined ? undefined : `≤ ${goal.toFixed(2)}`,
    met: goal === undefined ? undefined : ratio <= goal,
  };
}

/** The rows as a Markdown table. */
export function report(title: string, rows: Row[]): string {
  const lines = rows.map(({ what, podwright, containerd, ratio, goal, met }) => {
    const verdict = met === undefined ? '' : met ? ' met' : ' **missed**';
    return `| ${what} | ${podwright} | ${containerd} | ${ratio === undefined ? '' : ratio.toFixed(2)} | ${goal ?? ''}${verdict} |`;
  });
  return [
    `### ${title}`,
    '',
    '| what | Podwright | containerd | ratio | goal |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
