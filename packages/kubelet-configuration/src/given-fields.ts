import type { Field } from './fields/field.ts';
import { FIELDS, type FieldName } from './fields/field-table.ts';

/** A field's value and the place where it was set, such as `kubelet.yaml:7` or `--port`. The value `null` unsets the field. */
export type GivenField = { value: unknown; place: string };

/** The fields that were set by files or flags, by path. */
export type GivenFields = ReadonlyMap<string, GivenField>;

/** Merges two layers of fields. Fields in `over` win; maps are merged by key, as in a JSON merge patch (RFC 7396). */
export function layFields(under: GivenFields, over: GivenFields): GivenFields {
  const laid = new Map(under);
  for (const [name, given] of over) {
    const before = laid.get(name);
    if (given.value === null) laid.delete(name);
    else laid.set(name, before === undefined ? given : { ...given, value: merged(FIELDS.get(name), before, given) });
  }
  return laid;
}

function merged(field: Field | undefined, before: GivenField, given: GivenField): unknown {
  const { merge } = field?.type ?? {};
  return merge === undefined ? given.value : merge(before.value, given.value);
}

/** Merges flags over fields from files. As in upstream, a flag replaces an entire map, except that feature gates are merged. */
export function layFlags(files: GivenFields, flags: GivenFields): GivenFields {
  const gates: FieldName = 'featureGates';
  const gatesAlone = new Map([...flags].filter(([name]) => name === gates));
  return new Map([...layFields(files, gatesAlone), ...[...flags].filter(([name]) => name !== gates)]);
}
