/**
 * The two fields for the initial data of a claim's volume: `dataSource`, and `dataSourceRef`, which can refer to any kind. They are kept in
 * sync.
 */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';

/** Removes the data source references that upstream drops, and copies `dataSource` or `dataSourceRef` to the other field. */
export function withDataSources(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = objectAt(object, 'spec');
  if (spec === undefined) return object;
  const oldSpec = objectAt(old, 'spec');
  return { ...object, spec: copied(withoutDropped(spec, oldSpec)) };
}

/**
 * Drops references to other namespaces, which are an alpha feature, and a `dataSource` that is neither a claim nor a snapshot, as upstream
 * has always done. References already in the old object are kept.
 */
function withoutDropped(spec: JsonObject, old: JsonObject | undefined): JsonObject {
  const hadReference = objectAt(old, 'dataSourceRef') !== undefined;
  const isForeign = textAt(spec, 'dataSourceRef', 'namespace') !== '';
  const retained = isForeign && !hadReference ? withValue(spec, ['dataSourceRef'], undefined) : spec;
  const hadSource = hadReference || objectAt(old, 'dataSource') !== undefined;
  if (hadSource || objectAt(retained, 'dataSourceRef') !== undefined || isClaimOrSnapshot(retained)) return retained;
  return withValue(retained, ['dataSource'], undefined);
}

function isClaimOrSnapshot(spec: JsonObject): boolean {
  const kind = textAt(spec, 'dataSource', 'kind');
  const group = textAt(spec, 'dataSource', 'apiGroup');
  const isSnapshot = kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
  return isSnapshot || (kind === 'PersistentVolumeClaim' && group === '');
}

function copied(spec: JsonObject): JsonObject {
  const source = objectAt(spec, 'dataSource');
  const reference = objectAt(spec, 'dataSourceRef');
  if (source !== undefined && reference === undefined) return { ...spec, dataSourceRef: referenceOf(source) };
  const isLocal = reference !== undefined && textAt(reference, 'namespace') === '';
  return isLocal && source === undefined ? { ...spec, dataSource: referenceOf(reference) } : spec;
}

const referenceOf = ({ apiGroup = null, kind, name }: JsonObject): JsonObject => ({ apiGroup, kind, name });

export type DataSourceOptions = { allowInvalidGroup?: boolean };

export function validateDataSources(field: string, spec: JsonObject, options: DataSourceOptions): FieldError[] {
  const source = objectAt(spec, 'dataSource');
  const reference = objectAt(spec, 'dataSourceRef');
  const namespace = textAt(reference, 'namespace');
  const wrongNamespace = namespace === '' ? [] : dns1123LabelProblems(namespace);
  return [
    ...(source === undefined ? [] : validateReference(`${field}.dataSource`, source, options)),
    ...(reference === undefined ? [] : validateReference(`${field}.dataSourceRef`, reference, options)),
    ...problemsAt(`${field}.dataSourceRef.namespace`, namespace, wrongNamespace),
    ...validateBoth(field, source, reference),
  ];
}

function validateReference(
  field: string,
  reference: JsonObject,
  { allowInvalidGroup }: DataSourceOptions,
): FieldError[] {
  const kind = textAt(reference, 'kind');
  const group = textAt(reference, 'apiGroup');
  const inCore = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...(textAt(reference, 'name') === '' ? [required(`${field}.name`)] : []),
    ...(kind === '' ? [required(`${field}.kind`)] : []),
    ...(group === '' && kind !== 'PersistentVolumeClaim' ? [invalidValue(field, kind, inCore)] : []),
    ...(group === '' || allowInvalidGroup
      ? []
      : problemsAt(`${field}.apiGroup`, group, dns1123SubdomainProblems(group))),
  ];
}

/**
 * Requires `dataSource` and `dataSourceRef` to match. Upstream's error shows the path object of `dataSource` as the invalid value, which is
 * `{}` in JSON.
 */
function validateBoth(field: string, source?: JsonObject, reference?: JsonObject): FieldError[] {
  if (source === undefined || reference === undefined) return [];
  if (textAt(reference, 'namespace') !== '')
    return [invalidValue(field, {}, 'may not be specified when dataSourceRef.namespace is specified')];
  const isSame = ['apiGroup', 'kind', 'name'].every((name) => valueAt(source, name) === valueAt(reference, name));
  return isSame ? [] : [invalidValue(field, {}, 'must match dataSourceRef')];
}
