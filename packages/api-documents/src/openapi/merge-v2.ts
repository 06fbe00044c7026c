/** Merges the OpenAPI v2 documents of extension API servers into this server's (kube-openapi, pkg/aggregator). */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '@podwright/base';
import type { JsonObject } from '@podwright/kube-schema';

const PREFIX = '#/definitions/';
/** Maximum nesting depth. Documents with deeper nesting are not merged. */
const MAX_DEPTH = 200;

const partOf = (document: JsonObject, name: string): JsonObject => {
  const part = document[name];
  return isRecord(part) ? (part as JsonObject) : {};
};

/**
 * Returns the part of a document that describes the paths under a prefix, including the definitions they refer to. Throws if the document
 * is nested too deeply.
 */
export function documentBelow(document: JsonObject, prefix: string): JsonObject {
  const paths = Object.fromEntries(
    Object.entries(partOf(document, 'paths')).filter(([path]) => path.startsWith(prefix)),
  );
  const all = new Map(Object.entries(partOf(document, 'definitions')));
  const definitions = new Map<string, unknown>();
  const waiting = referencesIn(paths);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (definitions.has(name) || !all.has(name)) continue;
    definitions.set(name, all.get(name));
    waiting.push(...referencesIn(all.get(name)));
  }
  return { paths, definitions: Object.fromEntries(definitions) as JsonObject };
}

/**
 * Merges the paths and definitions of other documents into a document. If a path occurs more than once, the first one wins. Different
 * definitions with the same name are all included, under different names.
 */
export function mergedV2(document: JsonObject, others: readonly JsonObject[]): JsonObject {
  if (others.length === 0) return document;
  const paths: Entries = new Map(Object.entries(partOf(document, 'paths')));
  const definitions: Entries = new Map(Object.entries(partOf(document, 'definitions')));
  for (const other of others) {
    const added: Entries = new Map(Object.entries(partOf(other, 'definitions')));
    const names = newNames(definitions, added);
    for (const [name, definition] of added)
      addMissing(definitions, names.get(name) ?? name, renamed(definition, names));
    for (const [path, item] of Object.entries(partOf(other, 'paths'))) addMissing(paths, path, renamed(item, names));
  }
  return { ...document, paths: sorted(paths), definitions: sorted(definitions) };
}

type Entries = Map<string, unknown>;

/** Returns new names for the added definitions that differ from an existing definition with the same name. */
function newNames(known: Entries, added: Entries): Map<string, string> {
  const differing = [...added].filter(([name, one]) => known.has(name) && !isDeepStrictEqual(known.get(name), one));
  return new Map(differing.map(([name]) => [name, freeName(name, known, added)]));
}

function freeName(name: string, ...taken: readonly Entries[]): string {
  for (let number = 2; ; number++) {
    const next = `${name}_v${number}`;
    if (!taken.some((entries) => entries.has(next))) return next;
  }
}

function addMissing(entries: Entries, name: string, value: unknown): void {
  if (!entries.has(name)) entries.set(name, value);
}

const sorted = (entries: Entries): JsonObject =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;

function referencesIn(value: unknown, depth = 0): string[] {
  if (depth > MAX_DEPTH) throw new Error('the OpenAPI document is nested too deeply');
  if (Array.isArray(value)) return value.flatMap((one) => referencesIn(one, depth + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === '$ref' && typeof one === 'string' ? nameIn(one) : referencesIn(one, depth + 1),
  );
}

const nameIn = (reference: string): string[] => (reference.startsWith(PREFIX) ? [reference.slice(PREFIX.length)] : []);

/** Returns the value with its `$ref` references changed to the new names of the definitions. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((one) => renamed(one, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const [name = ''] = key === '$ref' && typeof one === 'string' ? nameIn(one) : [];
      return [key, names.has(name) ? PREFIX + names.get(name) : renamed(one, names)];
    }),
  );
}
