/** JSON values in the server: objects in the store are never modified, only replaced. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeMetadata } from '@podwright/kube-api';

export type JsonObject = { [field: string]: unknown };

export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & JsonObject;
  spec?: JsonObject;
  status?: JsonObject;
  [field: string]: unknown;
};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of fields; undefined if any of them is missing. */
export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((place, field) => (isObject(place) ? place[field] : undefined), value);
}

/** The string at a path, '' if there is none. */
export function textAt(value: unknown, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function objectAt(value: unknown, ...path: string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

export const sameJson = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one, other);

/** A copy without fields that are null or undefined, which a typed Go object would not retain. */
export function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject;
}
