import type { ObjectKey, StoredObject } from '@podwright/api-machinery';

/** An object's location in the store. */
export type Location = ObjectKey;

export function locationOf(resource: string, { key }: StoredObject): Location {
  const [namespace = '', name = ''] = key.split('/');
  return { resource, namespace, name };
}

export const textOf = ({ resource, namespace, name }: Location): string => `${resource}/${namespace}/${name}`;
