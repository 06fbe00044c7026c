/** Helpers for tests of a kind's strategy: they process objects as a request would, and compare errors as text. */
import assert from 'node:assert/strict';
import { decodeJson, Schema } from '@podwright/kube-schema';
import type { ApiObject } from '../api-object.ts';
import type { FieldError } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { isObject, type JsonObject } from '../values.ts';

const CONTEXT = { user: { username: 'test', groups: [] }, nowMs: 0 };

/** Formats each error as `FIELD: MESSAGE`. */
export const shownErrors = (errors: readonly FieldError[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`);

export class KindRules {
  readonly #strategy: Strategy;
  readonly #decode: (value: unknown) => ApiObject;

  private constructor(strategy: Strategy, decode: (value: unknown) => ApiObject) {
    this.#strategy = strategy;
    this.#decode = decode;
  }

  /** Creates the helper for a kind's strategy. `type` is the kind's name in the schema, such as `core.v1.Service`. */
  static async of(type: string, strategy: Strategy): Promise<KindRules> {
    const schema = await Schema.load();
    const options = { schema, type: schema.type(type) };
    // the round trip through JSON text drops fields whose value is undefined
    return new KindRules(
      strategy,
      (value) => decodeJson(JSON.parse(JSON.stringify(value)), options).object as ApiObject,
    );
  }

  /** Returns the decoded object with its defaults. */
  completed(value: object): ApiObject {
    const object = this.#decode(value);
    return this.#strategy.applyDefaults?.(object) ?? object;
  }

  /** Returns the object as prepared for creation, in the form in which it is validated and stored. */
  created(value: object): ApiObject {
    const object = this.completed(value);
    return this.#strategy.prepareForCreate?.(object, CONTEXT) ?? object;
  }

  updated(value: object, old: object): ApiObject {
    const object = this.completed(value);
    return this.#strategy.prepareForUpdate?.(object, this.completed(old)) ?? object;
  }

  /** Asserts which errors a new object causes. Each expected text is the start of `FIELD: MESSAGE`. */
  checkCreate(value: object, expected: readonly string[]): void {
    checkTexts(shownErrors(this.#strategy.validate?.(this.created(value))), expected);
  }

  checkUpdate(value: object, old: object, expected: readonly string[]): void {
    const errors = this.#strategy.validateUpdate?.(this.updated(value, old), this.completed(old));
    checkTexts(shownErrors(errors), expected);
  }

  checkStatus(value: object, old: object, expected: readonly string[]): void {
    const status = this.#strategy.subresources!.status!;
    const object = status.prepareForUpdate(this.completed(value), this.completed(old));
    checkTexts(shownErrors(status.validateUpdate?.(object, this.completed(old))), expected);
  }

  checkWarnings(value: object, expected: readonly string[], old?: object): void {
    const warnings = this.#strategy.warnings?.(this.created(value), old && this.completed(old));
    checkTexts(warnings ?? [], expected);
  }
}

/** Asserts that each text starts with the corresponding expected one. */
function checkTexts(texts: readonly string[], expected: readonly string[]): void {
  assert.deepEqual(
    texts.map((text, index) =>
      expected[index] !== undefined && text.startsWith(expected[index]) ? expected[index] : text,
    ),
    expected,
  );
}

/** Returns a copy of `object` with `change` merged in; `undefined` removes a field. */
export function merged(object: JsonObject, change: JsonObject): JsonObject {
  const result = { ...object };
  for (const [field, value] of Object.entries(change)) {
    const old = result[field];
    if (value === undefined) delete result[field];
    else result[field] = isObject(value) && isObject(old) ? merged(old, value) : value;
  }
  return result;
}
