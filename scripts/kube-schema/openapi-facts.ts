/**
 * Reads Kubernetes' OpenAPI definitions from `schema.json` for facts that are missing from Go's structs: required fields, and how lists and
 * maps merge.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Property = {
  type?: string;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
};

export type Definition = {
  properties?: Record<string, Property>;
  required?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
};

/** The definitions, keyed by the names of their messages in the .proto files. */
export function readDefinitions(directory: string): Map<string, Definition> {
  const text = readFileSync(join(directory, 'schema.json'), 'utf8');
  const { definitions } = JSON.parse(text) as { definitions: Record<string, Definition> };
  return new Map(
    Object.entries(definitions).map(([name, definition]) => [
      name.replace(/^io\.k8s\./, 'k8s.io.').replaceAll('-', '_'),
      definition,
    ]),
  );
}

/**
 * A property's merge words in our data: `a`tomic, `g`ranular, `s`et or `m`ap with keys; `+` merge with key, `~` retainKeys, `=` replace.
 */
export function mergeWords(property: Property): string[] {
  const keys = property['x-kubernetes-list-map-keys'] ?? [];
  const list = { atomic: 'a', set: 's', map: `m${keys.join(',')}`, '': '' }[property['x-kubernetes-list-type'] ?? ''];
  const map = { atomic: 'a', granular: 'g', '': '' }[property['x-kubernetes-map-type'] ?? ''];
  const strategies = (property['x-kubernetes-patch-strategy'] ?? '').split(',');
  return [
    list,
    map,
    strategies.includes('merge') ? `+${property['x-kubernetes-patch-merge-key'] ?? ''}` : '',
    strategies.includes('retainKeys') ? '~' : '',
    strategies.includes('replace') ? '=' : '',
  ].filter((word) => word !== '');
}
