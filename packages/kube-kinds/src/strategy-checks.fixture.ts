/** Runs requests through a strategy as the API server does: decodes objects, sets defaults, prepares and validates. */
import assert from 'node:assert/strict';
import { decodeJson, type JsonObject, Schema } from '@podwright/kube-schema';
import type { ApiObject } from './api-object.ts';
import type { FieldError } from './field-error.ts';
import type { Strategy } from './strategy.ts';
import { isObject } from './values.ts';

const schema = await Schema.load();
export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const USER = { username: 'ann', groups: ['dev'], uid: 'u1', extra: { scopes: ['a'] } };

/** Decodes an object and sets its defaults. */
export function decoded(strategy: Strategy, object: JsonObject): ApiObject {
  const type = schema.kindOf(object as { apiVersion: string; kind: string });
  assert.ok(type, `no kind ${object.apiVersion} ${object.kind}`);
  const sent = JSON.parse(JSON.stringify(object));
  const { object: result, problems } = decodeJson(sent, { schema, type });
  assert.deepEqual(problems, []);
  const filled = { metadata: {}, ...result } as ApiObject;
  return strategy.applyDefaults?.(filled) ?? filled;
}

export function created(strategy: Strategy, object: JsonObject): ApiObject {
  const filled = decoded(strategy, object);
  return strategy.prepareForCreate?.(filled, { user: USER, nowMs: NOW_MS }) ?? filled;
}

const textOf = (errors: readonly FieldError[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`);

/** Returns the validation errors for creating an object, as `FIELD: MESSAGE`. */
export const createErrors = (strategy: Strategy, object: JsonObject): string[] =>
  textOf(strategy.validate?.(created(strategy, object)));

/** Returns the validation errors for replacing `old` with `object`, as `FIELD: MESSAGE`. Decodes both objects and prepares the new one. */
export function updateErrors(strategy: Strategy, object: JsonObject, old: JsonObject): string[] {
  const [after, before] = [decoded(strategy, object), decoded(strategy, old)];
  return textOf(strategy.validateUpdate?.(strategy.prepareForUpdate?.(after, before) ?? after, before));
}

/** Updates a subresource. Returns the resulting object and the validation errors. */
export function subresourceUpdate(
  strategy: Strategy,
  name: string,
  { object, old }: { object: JsonObject; old: JsonObject },
): { object: ApiObject; errors: string[] } {
  const subresource = strategy.subresources?.[name];
  assert.ok(subresource);
  const before = decoded(strategy, old);
  const prepared = subresource.prepareForUpdate(decoded(strategy, object), before);
  return { object: prepared, errors: textOf(subresource.validateUpdate?.(prepared, before)) };
}

/** Returns a copy of `base` with `changes` merged in, at any depth. `undefined` removes a field. */
export function changed(base: JsonObject, changes: JsonObject): JsonObject {
  const merged = Object.entries(changes).map(([name, value]) => {
    const before = base[name];
    return [name, isObject(value) && isObject(before) ? changed(before, value) : value] as const;
  });
  const entries = [...Object.entries(base), ...merged].filter(
    ([name]) => !(name in changes) || changes[name] !== undefined,
  );
  return Object.fromEntries(entries);
}
