/** Validates PersistentVolumeClaim specs in pods and StatefulSets, like upstream's ValidatePersistentVolumeClaimSpec. */
import { compareQuantities, parseQuantity } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { validateLabelSelector, validateLabels } from '../labels.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../names.ts';
import { validateAmount } from '../resource-names.ts';
import { isSameValue, type JsonObject, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateAnnotations } from './pod-annotations.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];
const NANOS_PER_UNIT = 1_000_000_000n;

/** Metadata fields allowed in a claim template. */
const TEMPLATE_META = ['annotations', 'labels', 'creationTimestamp'];

export function validateClaimTemplate(template: JsonObject, field: Field): void {
  const metadata = objectAt(template, 'metadata');
  validateAnnotations(objectAt(metadata, 'annotations'), field.at('metadata', 'annotations'));
  field.add(validateLabels(field.at('metadata', 'labels').path, valueAt(metadata, 'labels')));
  for (const [name, value] of Object.entries(metadata ?? {}))
    if (!TEMPLATE_META.includes(name) && value !== null && value !== '')
      field.at('metadata', name).forbidden('cannot be set');
  validateClaimSpec(objectAt(template, 'spec') ?? {}, field.at('spec'));
}

export function validateClaimSpec(spec: JsonObject, field: Field): void {
  const modes = textsAt(spec, 'accessModes');
  if (modes.length === 0) field.at('accessModes').required('at least 1 access mode is required');
  field.add(validateLabelSelector(field.at('selector').path, valueAt(spec, 'selector')));
  const at = field.at('accessModes');
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) at.notSupported(mode, ACCESS_MODES);
  const known = modes.filter((mode) => ACCESS_MODES.includes(mode));
  if (known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod'))
    at.forbidden('may not use ReadWriteOncePod with other access modes');
  validateStorage(spec, field.at('resources').key('storage'));
  validateClassName(spec, field, 'storageClassName');
  const volumeMode = textAt(spec, 'volumeMode');
  if (valueAt(spec, 'volumeMode') !== undefined && !VOLUME_MODES.includes(volumeMode))
    field.at('volumeMode').notSupported(volumeMode, VOLUME_MODES);
  validateSources(spec, field);
  validateClassName(spec, field, 'volumeAttributesClassName');
}

function validateStorage(spec: JsonObject, field: Field): void {
  const storage = textAt(spec, 'resources', 'requests', 'storage');
  if (storage === '') return field.required();
  if (compareQuantities(storage, '0') <= 0) return field.invalid(storage, 'must be greater than zero');
  field.add(validateAmount(field.path, 'storage', storage));
}

function validateClassName(spec: JsonObject, field: Field, name: string): void {
  const className = textAt(spec, name);
  if (className !== '') field.at(name).invalidEach(className, dns1123SubdomainProblems(className));
}

function validateSources(spec: JsonObject, field: Field): void {
  const source = objectAt(spec, 'dataSource');
  const ref = objectAt(spec, 'dataSourceRef');
  if (source !== undefined) validateSource(source, field.at('dataSource'));
  if (ref === undefined) return;
  validateSource(ref, field.at('dataSourceRef'));
  const namespace = textAt(ref, 'namespace');
  if (namespace !== '') field.at('dataSourceRef', 'namespace').invalidEach(namespace, dns1123LabelProblems(namespace));
  if (source === undefined) return;
  const shown = field.at('dataSource').path;
  if (namespace !== '') field.invalid(shown, 'may not be specified when dataSourceRef.namespace is specified');
  else if (['apiGroup', 'kind', 'name'].some((name) => !isSameValue(source[name], ref[name])))
    field.invalid(shown, 'must match dataSourceRef');
}

function validateSource(source: JsonObject, field: Field): void {
  const kind = textAt(source, 'kind');
  const group = textAt(source, 'apiGroup');
  for (const name of ['name', 'kind']) if (textAt(source, name) === '') field.at(name).required();
  if (group !== '') field.at('apiGroup').invalidEach(group, dns1123SubdomainProblems(group));
  else if (kind !== 'PersistentVolumeClaim')
    field.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

/** Warns about storage amounts that are not whole bytes (GetWarningsForPersistentVolumeClaimSpec). */
export function claimWarnings(spec: JsonObject | undefined, field: Field): string[] {
  return ['requests', 'limits'].flatMap((kind) => {
    const quantity = textAt(spec, 'resources', kind, 'storage');
    if (quantity === '' || parseQuantity(quantity).nanos % NANOS_PER_UNIT === 0n) return [];
    const path = field.at('resources', kind).key('storage').path;
    return [`${path}: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`];
  });
}
