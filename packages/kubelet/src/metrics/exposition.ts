/** Content type of the Prometheus text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A sample of a metric. `atMs`: when it was measured (Unix milliseconds); absent if measured now. */
export type MetricSample = { labels?: Record<string, string>; value: number; atMs?: number };

/** A metric with all of its samples. Metrics without samples are omitted from the output. */
export type MetricFamily = { name: string; help: string; type: 'counter' | 'gauge'; samples: MetricSample[] };

/** Formats metrics as text. Names, samples and labels are sorted as in upstream's kubelet. */
export function exposition(families: MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, type, samples }) => {
      const lines = samples.map((sample) => `${name}${labelsOf(sample)} ${numberText(sample)}`).sort();
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}

function labelsOf({ labels }: MetricSample): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  pairs.sort();
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function numberText({ value, atMs }: MetricSample): string {
  const number = Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  return atMs === undefined ? number : `${number} ${Math.round(atMs)}`;
}

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeValue = (text: string) => escapeHelp(text).replaceAll('"', '\\"');
