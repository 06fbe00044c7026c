/** Warns about files in a volume whose paths are equal or nested (warningsForOverlappingVirtualPaths). */
import { type JsonObject, objectAt, objectsAt, textAt, valueAt } from '../values.ts';

type File = { path: string; source: string };

export const pathWarnings = (volumes: readonly JsonObject[]): string[] =>
  volumes.flatMap((volume) => {
    const name = textAt(volume, 'name');
    const plain = (kind: string, shown: string) =>
      overlaps(itemsOf(objectAt(volume, kind), '')).map((words) => warning(name, shown, words));
    return [
      ...plain('configMap', `ConfigMap ${JSON.stringify(textAt(volume, 'configMap', 'name'))}`),
      ...plain('secret', `Secret ${JSON.stringify(textAt(volume, 'secret', 'secretName'))}`),
      ...plain('downwardAPI', 'DownwardAPI'),
      ...projected(name, objectAt(volume, 'projected')),
    ];
  });

const warning = (name: string, shown: string, words: string): string =>
  `volume ${JSON.stringify(name)} (${shown}): overlapping paths: ${words}`;

function projected(name: string, volume: JsonObject | undefined): string[] {
  const sources = objectsAt(volume, 'sources');
  const empty = sources.filter((source) => Object.keys(source).length === 0);
  return [
    ...empty.map(() => `volume ${JSON.stringify(name)} (Projected) has no sources provided`),
    ...overlaps(sources.flatMap(filesOf)).map((words) => warning(name, 'Projected', words)),
  ];
}

function filesOf(source: JsonObject): File[] {
  const named = (kind: string, shown: string) =>
    itemsOf(objectAt(source, kind), `${shown} ${JSON.stringify(textAt(source, kind, 'name'))}`);
  if (valueAt(source, 'configMap', 'items') !== undefined) return named('configMap', 'ConfigMap');
  if (valueAt(source, 'secret', 'items') !== undefined) return named('secret', 'Secret');
  if (valueAt(source, 'downwardAPI', 'items') !== undefined)
    return itemsOf(objectAt(source, 'downwardAPI'), 'DownwardAPI');
  if (objectAt(source, 'serviceAccountToken') === undefined) return [];
  return [{ path: textAt(source, 'serviceAccountToken', 'path'), source: 'ServiceAccountToken' }];
}

const itemsOf = (source: JsonObject | undefined, shown: string): File[] =>
  objectsAt(source, 'items').map((item) => ({ path: textAt(item, 'path'), source: shown }));

/**
 * Limits on the warnings returned and on the length of the paths checked: clients may send long lists of files, and neither more warnings
 * nor paths too long for any system are worth the time.
 */
const MAX_WARNINGS = 100;
const MAX_PATH = 4096;

/** Returns the overlaps of each file with earlier ones. Files are indexed by path prefix to keep the time linear for long lists. */
function overlaps(files: readonly File[]): string[] {
  const below = new Map<string, File[]>();
  const exact = new Map<string, File[]>();
  const warnings: string[] = [];
  for (const { path: written, source } of files) {
    const file = { path: withoutSlashes(written), source };
    if (file.path === '' || file.path.length > MAX_PATH || warnings.length >= MAX_WARNINGS) continue;
    const ancestors = prefixesOf(file.path);
    const found = [...ancestors.flatMap((prefix) => exact.get(prefix) ?? []), ...(below.get(file.path) ?? [])];
    for (const other of found) warnings.push(`${shownFile(file)} with ${shownFile(other)}`);
    append(exact, file.path, file);
    for (const prefix of ancestors.slice(0, -1)) append(below, prefix, file);
  }
  return warnings;
}

function append(map: Map<string, File[]>, key: string, file: File): void {
  const files = map.get(key);
  if (files === undefined) map.set(key, [file]);
  else files.push(file);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** Returns all ancestors of a path, and the path itself: `a`, `a/b` and `a/b/c` for `a/b/c`. */
function prefixesOf(path: string): string[] {
  const steps = path.split('/');
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
}

const shownFile = ({ path, source }: File): string =>
  source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
