/** Validates a ResourceClaim's status: its allocation, its consumers, and the status of its devices. */
import type { ApiObject } from '../api-object.ts';
import { validateConditions } from '../conditions.ts';
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../field-error.ts';
import { validateNodeSelector } from '../node-selector.ts';
import { immutable, isDnsLabel } from '../rules.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateBindingConditions } from './binding-conditions.ts';
import { MAX_CONFIGS, validateConfigFor, validateRaw } from './device-config.ts';
import { allocatedIds, deviceId } from './device-ids.ts';
import { validateItems, validateSet } from './device-lists.ts';
import { validatePoolName, validateUid } from './device-names.ts';
import { requestNames, validateReference } from './device-requests.ts';
import { validateDriverName } from './driver-name.ts';
import { validateInterfaceAddress } from './interface-address.ts';

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_CONDITIONS = 8;
const MAX_IPS = 16;
const MAX_INTERFACE_NAME = 256;
const MAX_HARDWARE_ADDRESS = 128;

export function validateClaimStatus(object: ApiObject, old: ApiObject): FieldError[] {
  const allocated = allocatedIds(object);
  const consumers = objectsAt(object, 'status', 'reservedFor');
  return [
    ...validateSet('status.reservedFor', consumers, {
      max: MAX_CONSUMERS,
      validate: validateConsumer,
      key: (consumer) => textAt(consumer, 'uid'),
    }),
    ...validateSet('status.devices', objectsAt(object, 'status', 'devices'), {
      validate: (field, device) => validateDeviceStatus(field, device, allocated),
      key: deviceId,
    }),
    ...validateConsumers('status.reservedFor', object, old),
    ...validateAllocationChange('status.allocation', object, old),
  ];
}

const validateConsumer = (field: string, consumer: JsonObject): FieldError[] =>
  ['resource', 'name', 'uid'].flatMap((name) => (textAt(consumer, name) === '' ? [required(`${field}.${name}`)] : []));

/** Consumers require an allocation. A claim that is being deleted must not get new ones. */
function validateConsumers(field: string, object: ApiObject, old: ApiObject): FieldError[] {
  const consumers = objectsAt(object, 'status', 'reservedFor');
  if (consumers.length === 0) return [];
  if (valueAt(object, 'status', 'allocation') === undefined)
    return [forbiddenField(field, 'may not be specified when `allocated` is not set')];
  const key = (one: JsonObject) =>
    JSON.stringify(['apiGroup', 'resource', 'name', 'uid'].map((name) => textAt(one, name)));
  const before = new Set(objectsAt(old, 'status', 'reservedFor').map(key));
  const isDeleted = object.metadata.deletionTimestamp !== undefined;
  if (!isDeleted || consumers.every((one) => before.has(key(one)))) return [];
  const detail = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return [forbiddenField(field, detail)];
}

/** An allocation is immutable, but can be removed. */
function validateAllocationChange(field: string, object: ApiObject, old: ApiObject): FieldError[] {
  const allocation = objectAt(object, 'status', 'allocation');
  const before = objectAt(old, 'status', 'allocation');
  if (allocation === undefined) return [];
  if (before !== undefined) return immutable(field, allocation, before);
  const names = requestNames(objectAt(object, 'spec', 'devices'));
  const selector = objectAt(allocation, 'nodeSelector');
  return [
    ...validateItems(`${field}.devices.results`, objectsAt(allocation, 'devices', 'results'), {
      max: MAX_RESULTS,
      validate: (at, result) => validateResult(at, result, names),
    }),
    ...validateItems(`${field}.devices.config`, objectsAt(allocation, 'devices', 'config'), {
      max: 2 * MAX_CONFIGS,
      validate: (at, config) => [
        ...validateConfigSource(`${at}.source`, config),
        ...validateConfigFor(names)(at, config),
      ],
    }),
    ...(selector === undefined ? [] : validateNodeSelector(`${field}.nodeSelector`, selector)),
  ];
}

function validateResult(field: string, result: JsonObject, names: ReadonlySet<string>): FieldError[] {
  return [
    ...validateReference(`${field}.request`, textAt(result, 'request'), names),
    ...validateDevice(field, result),
    ...validateBindingConditions(field, result),
    ...validateShare(field, result),
  ];
}

const validateDevice = (field: string, device: JsonObject): FieldError[] => [
  ...validateDriverName(`${field}.driver`, textAt(device, 'driver')),
  ...validatePoolName(`${field}.pool`, textAt(device, 'pool')),
  ...isDnsLabel(`${field}.device`, textAt(device, 'device')),
];

function validateShare(field: string, device: JsonObject): FieldError[] {
  const share = valueAt(device, 'shareID');
  return typeof share === 'string' ? validateUid(`${field}.shareID`, share) : [];
}

function validateConfigSource(field: string, config: JsonObject): FieldError[] {
  const source = textAt(config, 'source');
  if (source === '') return [required(field)];
  const sources = ['FromClaim', 'FromClass'];
  return sources.includes(source) ? [] : [notSupported(field, source, sources)];
}

function validateDeviceStatus(field: string, device: JsonObject, allocated: ReadonlySet<string>): FieldError[] {
  const id = deviceId(device);
  const conditions = listAt(device, 'conditions');
  const at = `${field}.conditions`;
  const data = valueAt(device, 'data');
  return [
    ...validateDevice(field, device),
    ...validateShare(field, device),
    ...(allocated.has(id) ? [] : [invalidValue(field, id, 'must be an allocated device in the claim')]),
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(at, conditions.length, MAX_CONDITIONS)] : []),
    ...validateConditions(at, conditions),
    ...(data === undefined ? [] : validateRaw(`${field}.data`, data)),
    ...validateNetwork(`${field}.networkData`, objectAt(device, 'networkData')),
  ];
}

function validateNetwork(field: string, data: JsonObject | undefined): FieldError[] {
  const isLong = (name: string, max: number) =>
    Buffer.byteLength(textAt(data, name)) > max ? [tooLong(`${field}.${name}`, max)] : [];
  return [
    ...isLong('interfaceName', MAX_INTERFACE_NAME),
    ...isLong('hardwareAddress', MAX_HARDWARE_ADDRESS),
    ...validateSet(`${field}.ips`, textsAt(data, 'ips'), {
      max: MAX_IPS,
      validate: validateInterfaceAddress,
      key: (address) => address,
    }),
  ];
}
