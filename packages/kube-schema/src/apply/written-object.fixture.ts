/**
 * Replays sequences of writes from structured-merge-diff's own tests (merge/{leaf,set,nested,multiple_appliers}_test.go) with built-in
 * types.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { formatFieldsV1, parseFieldsV1 } from './fields-v1.ts';
import { FieldUpdater, type Managers } from './updater.ts';

const schema = await Schema.load();

/** An object and its field managers, to which tests apply configurations and updates. */
export class Written {
  object: JsonObject = {};
  managers: Managers = new Map();
  readonly #updater: FieldUpdater;

  constructor(type: string, ignored?: JsonObject) {
    this.#updater = new FieldUpdater({ schema, type: schema.type(type), ignored: ignored && parseFieldsV1(ignored) });
  }

  /** Applies a configuration, and returns the conflicts in the form `MANAGER FIELD`. */
  apply(manager: string, configuration: JsonObject, force = false): string[] {
    const change = { live: this.object, configuration, managers: this.managers, manager, force };
    const before = structuredClone(change.live);
    const applied = this.#updater.apply(change);
    assert.deepEqual(change.live, before, 'the live object is not modified');
    if ('conflicts' in applied) return applied.conflicts.map((one) => `${one.manager} ${one.field}`);
    this.object = applied.object;
    this.managers = applied.managers;
    return [];
  }

  update(manager: string, object: JsonObject): void {
    this.managers = this.#updater.update({ live: this.object, object, managers: this.managers, manager });
    this.object = object;
  }

  check(object: JsonObject, managers: Record<string, JsonObject>): void {
    assert.deepEqual(this.object, object);
    const sets = [...this.managers].map(([name, { fields }]) => [name, formatFieldsV1(fields)]);
    assert.deepEqual(Object.fromEntries(sets), managers);
  }
}
