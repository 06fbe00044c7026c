/** Validates a device in a ResourceSlice: its attributes, capacities, counters, taints and nodes. */
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { validateNodeSelector } from '../node-selector.ts';
import { isDnsLabel, problemsAt } from '../rules.ts';
import { isSameValue, type JsonObject, listAt, objectAt, objectsAt, textAt, valueAt } from '../values.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { validateAttributes } from './device-attributes.ts';
import { validateConsumption } from './device-counters.ts';
import { validateItems, validateMap, validateSet } from './device-lists.ts';
import { MAX_QUALIFIED_NAME, validateQualifiedName } from './device-names.ts';
import { validateTaint } from './device-requests.ts';
import { validateRequestPolicy } from './request-policy.ts';

const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;

/** Returns true if the device has taints or consumes counters. A ResourceSlice with such a device may contain fewer devices than others. */
export const usesAdvancedFeatures = (device: JsonObject): boolean =>
  listAt(device, 'taints').length > 0 || listAt(device, 'consumesCounters').length > 0;

type DeviceContext = {
  /** Whether each device in the ResourceSlice specifies its own nodes (`perDeviceNodeSelection`). */
  isPerDevice: boolean;
  old?: JsonObject;
};

export function validateSliceDevice(field: string, device: JsonObject, context: DeviceContext): FieldError[] {
  const areTaintsNew = context.old === undefined || !isSameValue(context.old.taints, device.taints);
  const taints = { max: MAX_TAINTS, validate: validateTaint };
  return [
    ...isDnsLabel(`${field}.name`, textAt(device, 'name')),
    ...validateAttributes(field, device),
    ...validateCapacities(`${field}.capacity`, device),
    ...(areTaintsNew ? validateItems(`${field}.taints`, objectsAt(device, 'taints'), taints) : []),
    ...validateSet(`${field}.consumesCounters`, objectsAt(device, 'consumesCounters'), {
      max: MAX_CONSUMPTIONS,
      validate: validateConsumption,
      key: (one) => textAt(one, 'counterSet'),
    }),
    ...(context.isPerDevice ? validateNodes(field, device) : validateNoNodes(field, device)),
    ...validateBindingConditions(field, device),
  ];
}

const validateCapacities = (field: string, device: JsonObject): FieldError[] =>
  validateMap(field, objectAt(device, 'capacity') ?? {}, {
    maxKey: MAX_QUALIFIED_NAME,
    validateKey: validateQualifiedName,
    validate: (at, capacity) =>
      validateRequestPolicy(`${at}.requestPolicy`, capacity, valueAt(device, 'allowMultipleAllocations') === true),
  });

function validateNodes(field: string, device: JsonObject): FieldError[] {
  const name = valueAt(device, 'nodeName');
  const selector = objectAt(device, 'nodeSelector');
  const isAll = valueAt(device, 'allNodes');
  const given = [
    ...(typeof name === 'string' && name !== '' ? ['`nodeName`'] : []),
    ...(selector === undefined ? [] : ['`nodeSelector`']),
    ...(isAll === true ? ['`allNodes`'] : []),
  ];
  const one =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  const notAll = invalidValue(`${field}.allNodes`, false, 'must be either unset or set to true');
  return [
    ...(typeof name === 'string' ? validateNodeName(`${field}.nodeName`, name) : []),
    ...(selector === undefined ? [] : validateNodeSelector(`${field}.nodeSelector`, selector)),
    ...(isAll === false ? [notAll] : []),
    ...(given.length === 0 ? [required(field, one)] : []),
    ...(given.length > 1 ? [invalidValue(field, `{${given.join(', ')}}`, one)] : []),
  ];
}

const validateNodeName = (field: string, name: string): FieldError[] =>
  name === ''
    ? [invalidValue(field, name, 'must not be empty')]
    : problemsAt(field, name, dns1123SubdomainProblems(name));

function validateNoNodes(field: string, device: JsonObject): FieldError[] {
  const isGiven = ['nodeName', 'nodeSelector', 'allNodes'].some((name) => valueAt(device, name) !== undefined);
  const detail =
    '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  return isGiven ? [invalidValue(field, null, detail)] : [];
}
