import { PodwrightError } from '@podwright/base';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { mergeApplied } from './merge.ts';
import { type Node, structNode } from './node.ts';

/**
 * Merges an apply configuration into an object as server-side apply does, but without field owners, so that no field is removed. `type`
 * must declare all fields of the configuration. Throws `invalid_argument` if the configuration sets an atomic list, map or struct, or a
 * list element without its keys.
 */
export function mergeConfiguration(
  object: JsonObject,
  configuration: JsonObject,
  { schema, type }: { schema: Schema; type: StructType },
): JsonObject {
  const node = structNode(schema, type);
  const atomic = atomicPaths(node, configuration, '');
  if (atomic.length > 0)
    throw refusal(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`);
  return mergeApplied(node, object, configuration) as JsonObject;
}

const refusal = (message: string) => new PodwrightError('invalid_argument', message);

/** Returns the paths of the atomic lists, maps and structs that the configuration sets. */
function atomicPaths(node: Node | undefined, value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null || node === undefined) return [];
  if (node.kind === 'leaf') return node.isAtomic ? [path] : [];
  if (node.kind === 'list')
    return Array.isArray(value)
      ? value.flatMap((element, index) => atomicPaths(node.element, element, `${path}[${index}]`))
      : [];
  if (node.kind === 'deduced' || !isJsonObject(value)) return [];
  const fields = Object.entries(value).filter(([name]) => node.isNamed(name));
  return fields.flatMap(([name, field]) => atomicPaths(node.at(name), field, `${path}.${name}`));
}
