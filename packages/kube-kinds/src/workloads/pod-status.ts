/** The `status` subresource of pods (podStatusStrategy, ValidatePodStatusUpdate). */

import { validateLegacyIp } from '../address-rules.ts';
import { parseIp } from '../addresses.ts';
import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../names.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, valueAt, withItems, withValue } from '../values.ts';
import { validateContainerStatuses } from './container-statuses.ts';
import { validateAnnotationUpdate } from './pod-validation.ts';
import { validateImmutable } from './workload-spec.ts';

/** Metadata that cannot be changed by a status update. Labels and annotations can. */
const OLD_METADATA = ['deletionTimestamp', 'deletionGracePeriodSeconds', 'ownerReferences'];
const SYSTEM_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

export function preparePodStatus(pod: ApiObject, old: ApiObject): ApiObject {
  const others = Object.entries(pod.metadata).filter(([name]) => !OLD_METADATA.includes(name));
  const retained = OLD_METADATA.flatMap((name) => {
    const value = old.metadata[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const metadata = Object.fromEntries([...others, ...retained]) as ApiObject['metadata'];
  const status = withoutDisabledStatus(
    withOldGenerations(objectAt(pod, 'status') ?? {}, objectAt(old, 'status') ?? {}),
  );
  const qosClass = textAt(status, 'qosClass') || textAt(old, 'status', 'qosClass');
  return { ...old, metadata, status: qosClass === '' ? status : { ...status, qosClass } };
}

/**
 * Retains the old `observedGeneration` of the pod and its conditions if the client does not set it, because older clients do not have this
 * field.
 */
function withOldGenerations(status: JsonObject, old: JsonObject): JsonObject {
  const retain = (now: JsonObject, before: JsonObject | undefined) => {
    const generation = numberAt(before, 'observedGeneration') ?? 0;
    const isSet = (numberAt(now, 'observedGeneration') ?? 0) !== 0 || generation === 0;
    return isSet ? now : { ...now, observedGeneration: generation };
  };
  const earlier = Map.groupBy(objectsAt(old, 'conditions'), (condition) => textAt(condition, 'type'));
  const complete = withItems(status, ['conditions'], (condition) =>
    retain(condition, earlier.get(textAt(condition, 'type'))?.shift()),
  );
  return retain(complete, old);
}

/** Removes status fields of features that are disabled by default. */
function withoutDisabledStatus(status: JsonObject): JsonObject {
  let result = withValue(status, ['nodeAllocatableResourceClaimStatuses'], undefined);
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'])
    result = withItems(result, [list], (container) =>
      withItems(container, ['volumeMounts'], (mount) => withValue(mount, ['volumeStatus'], undefined)),
    );
  return result;
}

export function validatePodStatus(pod: ApiObject, old: ApiObject): FieldError[] {
  const root = new Field();
  const field = root.at('status');
  validateAnnotationUpdate(pod, old, root.at('metadata', 'annotations'));
  validateConditions(objectsAt(pod, 'status', 'conditions'), field.at('conditions'));
  validateNominated(pod, old, field.at('nominatedNodeName'));
  const generation = numberAt(pod, 'status', 'observedGeneration') ?? 0;
  if (generation < 0) field.at('observedGeneration').invalid(generation, 'must be a non-negative integer');
  validateImmutable(valueAt(pod, 'status', 'qosClass'), valueAt(old, 'status', 'qosClass'), field.at('qosClass'));
  validateContainerStatuses(pod, old, field);
  validateClaims(pod, field.at('resourceClaimStatuses'));
  validateAddresses(pod, old, field.at('podIPs'));
  const hostIps = objectsAt(pod, 'status', 'hostIPs');
  const first = textAt(hostIps[0], 'ip');
  if (hostIps.length > 0 && textAt(pod, 'status', 'hostIP') !== first)
    field.at('hostIPs', 0, 'ip').invalid(first, 'must be equal to `hostIP`');
  validateAddresses(pod, old, field.at('hostIPs'));
  return root.errors;
}

function validateConditions(conditions: readonly JsonObject[], field: Field): void {
  for (const [index, condition] of conditions.entries()) {
    const type = textAt(condition, 'type');
    const generation = numberAt(condition, 'observedGeneration') ?? 0;
    if (generation < 0) field.at(index, 'observedGeneration').invalid(generation, 'must be a non-negative integer');
    // upstream's error capitalizes the field `type`
    if (!SYSTEM_CONDITIONS.includes(type)) field.at(index, 'Type').invalidEach(type, qualifiedNameProblems(type));
  }
}

function validateNominated(pod: ApiObject, old: ApiObject, field: Field): void {
  const name = textAt(pod, 'status', 'nominatedNodeName');
  if (name === '' || name === textAt(old, 'status', 'nominatedNodeName')) return;
  field.invalidEach(name, dns1123SubdomainProblems(name));
  if (textAt(old, 'spec', 'nodeName') !== '')
    field.forbidden('may not be set on pods that are already bound to a node');
}

function validateClaims(pod: ApiObject, field: Field): void {
  const known = new Set(objectsAt(pod, 'spec', 'resourceClaims').map((claim) => textAt(claim, 'name')));
  const seen = new Set<string>();
  for (const [index, status] of objectsAt(pod, 'status', 'resourceClaimStatuses').entries()) {
    const name = textAt(status, 'name');
    const at = field.at(index, 'name');
    if (!known.has(name)) at.invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    if (seen.has(name)) at.duplicate(name);
    seen.add(name);
    const claim = textAt(status, 'resourceClaimName');
    if (valueAt(status, 'resourceClaimName') !== undefined)
      field.at(index, 'resourceClaimName').invalidEach(claim, dns1123SubdomainProblems(claim));
  }
}

/** Allows at most one address per IP family. Addresses that are also in the old status are always valid. */
function validateAddresses(pod: ApiObject, old: ApiObject, field: Field): void {
  const list = field.path.slice(field.path.lastIndexOf('.') + 1);
  const addressesOf = (holder: ApiObject) => objectsAt(holder, 'status', list).map((one) => textAt(one, 'ip'));
  const addresses = addressesOf(pod);
  const before = addressesOf(old);
  for (const [index, address] of addresses.entries())
    field.add(validateLegacyIp(field.at(index).path, address, before));
  const families = new Set(addresses.map((address) => parseIp(address)?.family));
  if (addresses.length > 1 && (families.size < 2 || addresses.length > 2))
    field.invalid(shownAddresses(addresses), 'may specify no more than one IP for each IP family');
}

/** Formats IP addresses as Go structs, as shown in upstream's errors. */
const shownAddresses = (addresses: readonly string[]): JsonObject[] => addresses.map((IP) => ({ IP }));
