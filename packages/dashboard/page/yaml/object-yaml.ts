/** An object as YAML text, and back. */
import { parseDocument, stringify } from 'yaml';
import type { KubeObject } from '../api/objects.ts';

type Metadata = KubeObject['metadata'] & { managedFields?: unknown };

/** The object without `managedFields`, which are not edited. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _left, ...metadata } = object.metadata as Metadata;
  return { ...object, metadata };
}

/** Texts that look like numbers or times are quoted, so that every reader takes them as text. */
export const yamlOf = (object: unknown): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' });

/** Aliases that one text may expand to: a small text must not become a large object. */
const MAX_ALIASES = 100;

/** Returns the object of a text. Throws with the line for a text that is not YAML, or not an object with metadata. */
export function objectOf(text: string): KubeObject {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(error.message.split('\n')[0]);
  const value = document.toJS({ maxAliasCount: MAX_ALIASES }) as KubeObject | null;
  if (typeof value !== 'object' || value === null || typeof value.metadata !== 'object' || value.metadata === null)
    throw new Error('the text is not an object with metadata');
  return value;
}
