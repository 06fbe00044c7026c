/** Compares two transcripts of the same requests, field by field. */
import { entriesOf, isMap, type Json, type Path } from './json.ts';
import { masked, maskedText } from './mask.ts';
import type { Exchange } from './transcript.ts';

export type Difference = { path: string; ours: Json; theirs: Json };

/** Headers on which the servers must agree. Others are connection-specific, or belong to features of only one of the servers. */
const HEADERS = [
  'content-type',
  'cache-control',
  'warning',
  'allow',
  'retry-after',
  'location',
  'vary',
  'www-authenticate',
];

export function exchangeDifferences(ours: Exchange, theirs: Exchange): Difference[] {
  const differences = valueDifferences(masked(ours.body), masked(theirs.body), ['body']);
  if (ours.status !== theirs.status) differences.unshift({ path: 'status', ours: ours.status, theirs: theirs.status });
  for (const name of HEADERS) {
    const [one, other] = [ours, theirs].map(({ headers }) => maskedText(String(headers[name] ?? '')));
    if (one !== other) differences.push({ path: `header ${name}`, ours: one, theirs: other });
  }
  if ('audit-id' in theirs.headers !== 'audit-id' in ours.headers)
    differences.push({ path: 'header audit-id', ours: ours.headers['audit-id'], theirs: theirs.headers['audit-id'] });
  return differences;
}

function valueDifferences(ours: Json, theirs: Json, path: Path): Difference[] {
  const areBoth = (test: (value: Json) => boolean) => test(ours) && test(theirs);
  if (areBoth(isMap) || areBoth(Array.isArray)) {
    const keys = new Set([...entriesOf(ours), ...entriesOf(theirs)].map(([key]) => key));
    return [...keys].flatMap((key) => valueDifferences(ours[key], theirs[key], [...path, key]));
  }
  // Podwright's server has its own column descriptions
  if (path.includes('columnDefinitions') && path.at(-1) === 'description') return [];
  return ours === theirs ? [] : [{ path: path.join('.'), ours, theirs }];
}
