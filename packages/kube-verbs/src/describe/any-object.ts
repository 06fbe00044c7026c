import { isRecord } from '@podwright/base';
import type { ApiObject } from '../api-port.ts';
import type { Lines } from '../text/aligned.ts';
import { describeAnnotations, describeLabels } from './metadata.ts';

/** Fields that the description of an arbitrary object prints at the top or omits, so they are not printed with the others. */
const SHOWN = new Set([
  ...['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.labels', 'metadata.annotations'],
  'metadata.managedFields',
]);

/** Describes an object of any kind by printing its fields, with field names split into words. */
export function describeAnyObject(lines: Lines, object: ApiObject): void {
  const { metadata } = object;
  lines.field('Name', metadata.name);
  lines.field('Namespace', metadata.namespace ?? '');
  describeLabels(lines, metadata.labels);
  describeAnnotations(lines, metadata.annotations);
  lines.field('API Version', object.apiVersion ?? '');
  lines.field('Kind', object.kind ?? '');
  describeFields(lines, object as unknown as Fields, { level: 0, path: '' });
}

type Fields = Record<string, unknown>;
type Place = { level: number; path: string };

function describeFields(lines: Lines, fields: Fields, { level, path }: Place): void {
  const keys = Object.keys(fields).filter((key) => !SHOWN.has(`${path}${key}`));
  for (const key of keys.sort()) {
    const [label, value] = [wordsOf(key), fields[key]];
    const below = { level: level + 1, path: `${path}${key}.` };
    if (Array.isArray(value)) describeItems(lines, { label, items: value, place: { ...below, level } });
    else if (isRecord(value)) {
      lines.add(level, `${label}:`);
      describeFields(lines, value, below);
    } else lines.add(level, `${label}:\t${valueText(value)}`);
  }
}

function describeItems(lines: Lines, { label, items, place }: { label: string; items: unknown[]; place: Place }): void {
  lines.add(place.level, `${label}:`);
  for (const item of items) {
    if (isRecord(item)) describeFields(lines, item, { ...place, level: place.level + 1 });
    else lines.add(place.level + 1, valueText(item));
  }
}

const valueText = (value: unknown): string =>
  value === null ? '<nil>' : typeof value === 'object' ? JSON.stringify(value) : String(value);

const INITIALISMS = new Set(['API', 'URL', 'UID', 'OSB', 'GUID']);

/**
 * Splits `creationTimestamp` into `Creation Timestamp`. Names with anything other than letters and dashes, such as `a.b/c`, are returned
 * unchanged.
 */
export function wordsOf(name: string): string {
  if (!/^[\p{L}-]+$/u.test(name)) return name;
  const words = name.match(/-|[A-Z]+(?![a-z])|[A-Z]?[^A-Z-]+|[A-Z]/g) ?? [name];
  return words
    .map((word) => (INITIALISMS.has(word.toUpperCase()) ? word.toUpperCase() : word[0]!.toUpperCase() + word.slice(1)))
    .join(' ');
}
