import type { KubeMetadata } from '@podwright/kube-api';
import type { Lines } from '../text/aligned.ts';

/** Annotations omitted from descriptions because they repeat the whole object. */
const HIDDEN = new Set(['kubectl.kubernetes.io/last-applied-configuration']);
const MAX_ANNOTATION_LENGTH = 140;

/** Formats a time like `Mon, 30 Nov 2026 12:16:13 +0000`. */
export function timeText(time: string | undefined): string {
  if (time === undefined || Number.isNaN(Date.parse(time))) return time ?? '<unset>';
  return new Date(time).toUTCString().replace('GMT', '+0000');
}

export function describeLabels(lines: Lines, labels: Record<string, string> | undefined, level = 0): void {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  lines.list(
    level,
    'Labels',
    pairs.map(([key, value]) => `${key}=${value}`),
  );
}

/** Describes annotations. Multi-line values start on a line of their own; long lines are truncated. */
export function describeAnnotations(lines: Lines, annotations: Record<string, string> | undefined, level = 0): void {
  const pairs = Object.entries(annotations ?? {}).filter(([key]) => !HIDDEN.has(key));
  const texts = pairs
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => {
      const text = value.replace(/\n$/, '');
      if (key.length + text.length + 2 <= MAX_ANNOTATION_LENGTH && !text.includes('\n')) return `${key}: ${text}`;
      const rows = text
        .split('\n')
        .map((row) => (row.length > MAX_ANNOTATION_LENGTH - 2 ? `${row.slice(0, MAX_ANNOTATION_LENGTH - 2)}...` : row));
      return [`${key}:`, ...rows.map((row) => `${'  '.repeat(level)}\t  ${row}`)].join('\n');
    });
  lines.list(level, 'Annotations', texts);
}

/** Returns the controller that owns an object, as `Kind/name`. */
export function controllerOf({ ownerReferences = [] }: KubeMetadata): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return owner && `${owner.kind}/${owner.name}`;
}
