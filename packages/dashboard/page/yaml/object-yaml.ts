/** Converts objects to and from YAML. */
import { parseDocument, stringify } from 'yaml';
import type { KubeObject } from '../api/objects.ts';
import { withNumbers } from './exact-json.ts';

type Metadata = KubeObject['metadata'] & { managedFields?: unknown };

/** Returns the object without `managedFields`, which users do not edit. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _left, ...metadata } = object.metadata as Metadata;
  return { ...object, metadata };
}

/** Converts an object to YAML. Quotes strings that YAML 1.1 or 1.2 would parse as another type, such as `yes`. */
export const yamlOf = (object: unknown): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' });

/** Maximum number of expanded aliases. Prevents a small text from expanding to a huge object. */
const MAX_ALIASES = 100;

/** Parses an object from YAML. Throws if the text is not valid YAML (with the line number), or not an object with metadata. */
export function objectOf(text: string): KubeObject {
  const document = parseDocument(text, { prettyErrors: true, intAsBigInt: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(error.message.split('\n')[0]);
  const value = withNumbers(document.toJS({ maxAliasCount: MAX_ALIASES })) as KubeObject | null;
  if (typeof value !== 'object' || value === null || typeof value.metadata !== 'object' || value.metadata === null)
    throw new Error('the text is not an object with metadata');
  return value;
}
