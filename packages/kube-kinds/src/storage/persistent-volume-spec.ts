/**
 * Validates PersistentVolume specs, including those inlined in a VolumeAttachment, where most fields are not allowed
 * (ValidatePersistentVolumeSpec).
 */
import { posix } from 'node:path';
import { compareQuantities, quantityValue } from '@podwright/kube-api';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { validateNodeSelector } from '../node-selector.ts';
import { problemsAt } from '../rules.ts';
import { type JsonObject, objectAt, textAt, textEntriesAt, textsAt, valueAt } from '../values.ts';
import { VOLUME_MODES, validateAccessModes } from './access-modes.ts';
import { VOLUME_SOURCES } from './volume-sources.ts';

export type SpecOptions = {
  /** The volume's name; `undefined` for an inline spec. */
  volume?: string;
  allowInvalidValues?: boolean;
};

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const INLINE = 'may not be specified in the context of inline volumes';

export function validateVolumeSpec(field: string, spec: JsonObject, options: SpecOptions): FieldError[] {
  const isInline = options.volume === undefined;
  const modes = textsAt(spec, 'accessModes');
  return [
    ...(isInline ? validateInline(field, spec) : []),
    ...(modes.length === 0 ? [required(`${field}.accessModes`)] : []),
    ...validateAccessModes(`${field}.accessModes`, modes),
    ...(isInline ? [] : validateCapacity(`${field}.capacity`, spec)),
    ...validateReclaimPolicy(`${field}.persistentVolumeReclaimPolicy`, spec, isInline),
    ...validateNodeAffinity(`${field}.nodeAffinity`, spec, options),
    ...validateSources(field, spec, options),
    ...validateStorageClass(`${field}.storageClassName`, spec, isInline),
    ...validateVolumeMode(`${field}.volumeMode`, spec, isInline),
    ...validateAttributesClass(field, spec, isInline),
  ];
}

function validateInline(field: string, spec: JsonObject): FieldError[] {
  const capacity = textEntriesAt(spec, 'capacity');
  const csi = required(`${field}.csi`, 'has to be specified in the context of inline volumes');
  return [
    ...(objectAt(spec, 'claimRef') === undefined ? [] : [forbiddenField(`${field}.claimRef`, INLINE)]),
    ...(capacity.length === 0 ? [] : [forbiddenField(`${field}.capacity`, INLINE)]),
    ...(objectAt(spec, 'csi') === undefined ? [csi] : []),
  ];
}

function validateCapacity(field: string, spec: JsonObject): FieldError[] {
  const entries = textEntriesAt(spec, 'capacity');
  const isOnlyStorage = entries.length === 1 && entries[0]![0] === 'storage';
  return [
    ...(entries.length === 0 ? [required(field)] : []),
    ...(isOnlyStorage ? [] : [notSupported(field, objectAt(spec, 'capacity'), ['storage'])]),
    ...entries.flatMap(([name, quantity]) => validatePositive(`${field}[${name}]`, quantity)),
  ];
}

function validatePositive(field: string, quantity: string): FieldError[] {
  const value = quantityValue(quantity);
  const negative = value < 0n ? [invalidValue(field, Number(value), 'must be a valid resource quantity')] : [];
  return [...negative, ...positiveQuantity(field, quantity)];
}

/** Requires a quantity to be positive (ValidatePositiveQuantityValue). */
export const positiveQuantity = (field: string, quantity: string): FieldError[] =>
  compareQuantities(quantity, '0') > 0 ? [] : [invalidValue(field, quantity, 'must be greater than zero')];

function validateReclaimPolicy(field: string, spec: JsonObject, isInline: boolean): FieldError[] {
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  if (policy === '') return [];
  if (!isInline) return RECLAIM_POLICIES.includes(policy) ? [] : [notSupported(field, policy, RECLAIM_POLICIES)];
  return policy === 'Retain' ? [] : [forbiddenField(field, 'may only be Retain in the context of inline volumes')];
}

function validateNodeAffinity(field: string, spec: JsonObject, options: SpecOptions): FieldError[] {
  const affinity = objectAt(spec, 'nodeAffinity');
  if (affinity === undefined) return [];
  if (options.volume === undefined) return [forbiddenField(field, INLINE)];
  const selector = objectAt(affinity, 'required');
  if (selector === undefined) return [required(`${field}.required`, 'must specify required node constraints')];
  return validateNodeSelector(`${field}.required`, selector, options);
}

function validateSources(field: string, spec: JsonObject, { volume }: SpecOptions): FieldError[] {
  const isInline = volume === undefined;
  const sources = VOLUME_SOURCES.filter(({ name }) => objectAt(spec, name) !== undefined);
  if (sources.length === 0) return [required(field, 'must specify a volume type')];
  const noAffinity = isInline || objectAt(spec, 'nodeAffinity') === undefined;
  return sources
    .flatMap(({ name, validate, mayBeSecond, ...source }, index) => {
      const second = `${field}.${source.secondField ?? name}`;
      if (index > 0 && !mayBeSecond) return [forbiddenField(second, 'may not specify more than 1 volume type')];
      const errors = validate(`${field}.${source.field ?? name}`, objectAt(spec, name)!, volume ?? '');
      const affinity = required(`${field}.nodeAffinity`, 'Local volume requires node affinity');
      return name === 'local' && noAffinity ? [...errors, affinity] : errors;
    })
    .concat(validateRecycledRoot(`${field}.persistentVolumeReclaimPolicy`, spec));
}

function validateRecycledRoot(field: string, spec: JsonObject): FieldError[] {
  const isRoot = posix.normalize(textAt(spec, 'hostPath', 'path')) === '/';
  if (!isRoot || textAt(spec, 'persistentVolumeReclaimPolicy') !== 'Recycle') return [];
  return [forbiddenField(field, "may not be 'recycle' for a hostPath mount of '/'")];
}

function validateStorageClass(field: string, spec: JsonObject, isInline: boolean): FieldError[] {
  const name = textAt(spec, 'storageClassName');
  if (name === '') return [];
  return isInline ? [forbiddenField(field, INLINE)] : problemsAt(field, name, dns1123SubdomainProblems(name));
}

function validateVolumeMode(field: string, spec: JsonObject, isInline: boolean): FieldError[] {
  const mode = valueAt(spec, 'volumeMode');
  if (mode === undefined) return [];
  if (!isInline) return VOLUME_MODES.includes(String(mode)) ? [] : [notSupported(field, mode, VOLUME_MODES)];
  const inline = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
  return mode === 'Filesystem' ? [] : [forbiddenField(field, inline)];
}

/** Validates the volume attributes class name. Like upstream, does not check it for inline volumes. */
function validateAttributesClass(field: string, spec: JsonObject, isInline: boolean): FieldError[] {
  const name = valueAt(spec, 'volumeAttributesClassName');
  if (typeof name !== 'string' || isInline) return [];
  const at = `${field}.volumeAttributesClassName`;
  const csi = required(`${field}.csi`, 'has to be specified when using volumeAttributesClassName');
  return [
    ...(name === ''
      ? [required(at, 'an empty string is disallowed')]
      : problemsAt(at, name, dns1123SubdomainProblems(name))),
    ...(objectAt(spec, 'csi') === undefined ? [csi] : []),
  ];
}
