import { validateLegacyCidr } from '../address-rules.ts';
import { parseCidr } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, forbiddenField, invalidValue } from '../field-error.ts';
import { validateAmount } from '../resource-names.ts';
import { positive } from '../rules.ts';
import { numberAt, objectsAt, textAt, textEntriesAt, textsAt } from '../values.ts';
import { validateNodeConfig } from './node-config.ts';
import { validateTaints } from './taints.ts';

const FIXED_CIDR = 'node updates may not change podCIDR except from "" to valid';
const FIXED_PROVIDER = 'node updates may not change providerID except from "" to valid';
const feature = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const FEATURE_WORDS =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
const MAX_FEATURE = 253;

export function validateNode(object: ApiObject): FieldError[] {
  const swap = numberAt(object, 'status', 'nodeInfo', 'swap', 'capacity');
  return [
    ...validateTaints('metadata.taints', objectsAt(object, 'spec', 'taints')),
    ...validateAmounts(object),
    ...(swap === undefined ? [] : positive('metadata.nodeSwapStatus.capacity', swap)),
    ...validateFeatures(textsAt(object, 'status', 'declaredFeatures')),
    ...validatePodCidrs(textsAt(object, 'spec', 'podCIDRs')),
  ];
}

function validateAmounts(object: ApiObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((field) =>
    textEntriesAt(object, 'status', field).flatMap(([name, amount]) =>
      validateAmount(`status.${field}.${name}`, name, amount),
    ),
  );
}

/** Requires a node's declared features to be sorted and unique. */
function validateFeatures(features: readonly string[]): FieldError[] {
  return features.flatMap((name, index): FieldError[] => {
    const problem = name.length > MAX_FEATURE ? `must be no more than ${MAX_FEATURE} characters` : FEATURE_WORDS;
    const isInvalid = name.length > MAX_FEATURE || !feature.test(name);
    const detail = `invalid feature name ${JSON.stringify(name)}: ${problem}`;
    return [
      ...(isInvalid ? [invalidValue(`status.declaredFeatures[${index}]`, name, detail)] : []),
      ...validateOrder(`status.declaredFeatures[${index + 1}]`, name, features[index + 1]),
    ];
  });
}

function validateOrder(field: string, name: string, next: string | undefined): FieldError[] {
  if (next === undefined || name < next) return [];
  if (name > next) return [invalidValue(field, next, 'list must be sorted alphabetically')];
  return [duplicate(field, next)];
}

function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const errors = cidrs.flatMap((cidr, index) => validateLegacyCidr(`spec.podCIDRs[${index}]`, cidr));
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.address.family));
  if (cidrs.length > 1 && (families.size !== 2 || families.has(undefined) || cidrs.length > 2))
    errors.push(invalidValue('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'));
  return errors;
}

/** Validates an update of a node or its status. */
export function validateNodeChange(object: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...validateAmounts(object),
    ...validateFeatures(textsAt(object, 'status', 'declaredFeatures')),
    ...validateAddresses(object),
    ...validatePodCidrChange(textsAt(object, 'spec', 'podCIDRs'), textsAt(old, 'spec', 'podCIDRs')),
    ...validateProvider(textAt(object, 'spec', 'providerID'), textAt(old, 'spec', 'providerID')),
    ...validateNodeConfig(object),
    ...validateTaints('metadata.taints', objectsAt(object, 'spec', 'taints')),
    ...(textAt(object, 'spec', 'externalID') === textAt(old, 'spec', 'externalID')
      ? []
      : [forbiddenField('spec.externalID', 'may not be updated')]),
  ];
}

function validateAddresses(object: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(object, 'status', 'addresses').flatMap((address, index): FieldError[] => {
    // upstream's error shows the internal form of the address
    const shown = JSON.stringify({ Type: textAt(address, 'type'), Address: textAt(address, 'address') });
    const isRepeated = seen.has(shown);
    seen.add(shown);
    const field = `status.addresses[${index}]`;
    return isRepeated ? [{ reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${shown}` }] : [];
  });
}

function validatePodCidrChange(cidrs: readonly string[], old: readonly string[]): FieldError[] {
  if (old.length === 0) return [];
  const error = forbiddenField('spec.podCIDRs', FIXED_CIDR);
  return cidrs.length === old.length ? old.filter((cidr, index) => cidr !== cidrs[index]).map(() => error) : [error];
}

const validateProvider = (id: string, old: string): FieldError[] =>
  old === '' || id === old ? [] : [forbiddenField('spec.providerID', FIXED_PROVIDER)];
