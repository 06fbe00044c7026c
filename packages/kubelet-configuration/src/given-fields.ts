import type { Field } from './fields/field.ts';
import { FIELDS, type FieldName } from './fields/field-table.ts';

/** What somebody said about a field, and where: `kubelet.yaml:7` or `--port`. `null` takes back what was said before. */
export type GivenField = { value: unknown; place: string };

/** What files and flags say, by the path of the field; what they leave out is not there. */
export type GivenFields = ReadonlyMap<string, GivenField>;

/** `over` wins field by field; tables are merged name by name, as by a JSON merge patch (RFC 7396). */
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

/** Flags replace tables of files, as upstream's do, but for feature gates, which are merged. */
export function layFlags(files: GivenFields, flags: GivenFields): GivenFields {
  const gates: FieldName = 'featureGates';
  const gatesAlone = new Map([...flags].filter(([name]) => name === gates));
  return new Map([...layFields(files, gatesAlone), ...[...flags].filter(([name]) => name !== gates)]);
}
