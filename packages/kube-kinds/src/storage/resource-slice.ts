/** ResourceSlices: devices offered by a driver on one, some or all nodes. */
import { formatTime } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { validateNodeSelector } from '../node-selector.ts';
import { immutable, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import {
  type JsonObject,
  listAt,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  valueAt,
  withItems,
  withValue,
} from '../values.ts';
import { usesAdvancedFeatures, validateSliceDevice } from './device.ts';
import { withoutFeatures } from './device-attributes.ts';
import { validateCounterSet } from './device-counters.ts';
import { validateSet } from './device-lists.ts';
import { validatePoolName } from './device-names.ts';
import { validateDriverName } from './driver-name.ts';

const MAX_DEVICES = 128;
const MAX_ADVANCED_DEVICES = 64;
const MAX_COUNTER_SETS = 8;
const DEVICES = ['spec', 'devices'];

/** Sets missing `timeAdded` fields of device taints to the current time. */
function applyDefaults(object: ApiObject): ApiObject {
  const now = formatTime(Date.now());
  const withTime = (taint: JsonObject) => (valueAt(taint, 'timeAdded') ? taint : withValue(taint, ['timeAdded'], now));
  return withItems(object, DEVICES, (device) => withItems(device, ['taints'], withTime));
}

const withoutDisabled = (object: ApiObject): ApiObject => withItems(object, DEVICES, withoutFeatures);

function validate(object: ApiObject, old?: ApiObject): FieldError[] {
  const spec = objectAt(object, 'spec') ?? {};
  const oldDevices = new Map(objectsAt(old, ...DEVICES).map((device) => [textAt(device, 'name'), device]));
  const isPerDevice = valueAt(spec, 'perDeviceNodeSelection') === true;
  const devices = objectsAt(spec, 'devices');
  return [
    ...validateDriverName('spec.driver', textAt(spec, 'driver')),
    ...validatePool('spec.pool', spec),
    ...(old === undefined ? [] : validateChange(spec, objectAt(old, 'spec') ?? {})),
    ...validateNodes('spec', spec),
    ...validateContents('spec', spec),
    ...validateSet('spec.devices', devices, {
      max: devices.some(usesAdvancedFeatures) ? MAX_ADVANCED_DEVICES : MAX_DEVICES,
      validate: (field, device) =>
        validateSliceDevice(field, device, { isPerDevice, old: oldDevices.get(textAt(device, 'name')) }),
      key: (device) => textAt(device, 'name'),
    }),
    ...validateSet('spec.sharedCounters', objectsAt(spec, 'sharedCounters'), {
      max: MAX_COUNTER_SETS,
      validate: validateCounterSet,
      key: (set) => textAt(set, 'name'),
    }),
  ];
}

function validatePool(field: string, spec: JsonObject): FieldError[] {
  const count = numberAt(spec, 'pool', 'resourceSliceCount') ?? 0;
  const generation = numberAt(spec, 'pool', 'generation') ?? 0;
  const wrongCount = invalidValue(`${field}.resourceSliceCount`, count, 'must be greater than zero');
  const negative = invalidValue(`${field}.generation`, generation, 'must be greater than or equal to zero');
  return [
    ...validatePoolName(`${field}.name`, textAt(spec, 'pool', 'name')),
    ...(count > 0 ? [] : [wrongCount]),
    ...(generation >= 0 ? [] : [negative]),
  ];
}

const validateChange = (spec: JsonObject, old: JsonObject): FieldError[] => [
  ...immutable('spec.pool.name', valueAt(spec, 'pool', 'name'), valueAt(old, 'pool', 'name')),
  ...immutable('spec.driver', spec.driver, old.driver),
  ...immutable('spec.nodeName', spec.nodeName, old.nodeName),
];

/** A slice must set exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection`. */
function validateNodes(field: string, spec: JsonObject): FieldError[] {
  const name = valueAt(spec, 'nodeName');
  const selector = objectAt(spec, 'nodeSelector');
  const given = [
    ...(typeof name === 'string' && name !== '' ? ['`nodeName`'] : []),
    ...(selector === undefined ? [] : ['`nodeSelector`']),
    ...['allNodes', 'perDeviceNodeSelection'].filter((one) => valueAt(spec, one) === true).map((one) => `\`${one}\``),
  ];
  return [
    ...validateNodeName(`${field}.nodeName`, name),
    ...(selector === undefined ? [] : validateSelector(`${field}.nodeSelector`, selector)),
    ...['allNodes', 'perDeviceNodeSelection'].flatMap((one) =>
      valueAt(spec, one) === false
        ? [invalidValue(`${field}.${one}`, false, 'must be either unset or set to true')]
        : [],
    ),
    ...validateGiven(field, given),
  ];
}

function validateNodeName(field: string, name: unknown): FieldError[] {
  if (typeof name !== 'string') return [];
  if (name === '') return [invalidValue(field, name, 'must be either unset or set to a non-empty string')];
  return problemsAt(field, name, dns1123SubdomainProblems(name));
}

function validateSelector(field: string, selector: JsonObject): FieldError[] {
  const terms = listAt(selector, 'nodeSelectorTerms');
  const one = invalidValue(`${field}.nodeSelectorTerms`, terms, 'must have exactly one node selector term');
  return [...validateNodeSelector(field, selector), ...(terms.length === 1 ? [] : [one])];
}

function validateGiven(field: string, given: readonly string[]): FieldError[] {
  const one = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (given.length === 0) return [required(field, one)];
  if (given.length === 1) return [];
  return [invalidValue(field, `{${given.join(', ')}}`, `${one}, but multiple fields are set`)];
}

function validateContents(field: string, spec: JsonObject): FieldError[] {
  const isBoth = ['sharedCounters', 'devices'].every((name) => valueAt(spec, name) !== undefined);
  return isBoth ? [invalidValue(field, '', 'only one of `sharedCounters` or `devices` is allowed')] : [];
}

function warnings(object: ApiObject): string[] {
  const driver = textAt(object, 'spec', 'driver');
  if (driver === driver.toLowerCase()) return [];
  const shown = JSON.stringify(driver);
  return [`spec.driver: driver names should be lowercase; ${shown} contains uppercase characters`];
}

export const RESOURCE_SLICE: Strategy = {
  applyDefaults,
  prepareForCreate: withoutDisabled,
  prepareForUpdate: withoutDisabled,
  validate: (object) => validate(object),
  validateUpdate: validate,
  warnings,
  hasGeneration: true,
  selectableFields: {
    'spec.nodeName': (object) => textAt(object, 'spec', 'nodeName'),
    'spec.driver': (object) => textAt(object, 'spec', 'driver'),
  },
};
