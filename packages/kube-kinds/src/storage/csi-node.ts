import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { repeats } from '../repeats.ts';
import { immutable, nonNegative, problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, numberAt, objectsAt, textAt, textsAt } from '../values.ts';
import { validateDriverName } from './driver-name.ts';

const MAX_NODE_ID = 256;

function validate(object: ApiObject): FieldError[] {
  const drivers = objectsAt(object, 'spec', 'drivers');
  const names = drivers.map((driver) => textAt(driver, 'name'));
  const isRepeated = repeats(names);
  return drivers.flatMap((driver, index) => {
    const field = `spec.drivers[${index}]`;
    const repeated = isRepeated[index] ? [duplicate(`${field}.name`, names[index])] : [];
    return [...validateDriver(field, driver), ...repeated, ...validateTopologyKeys(field, driver)];
  });
}

function validateDriver(field: string, driver: JsonObject): FieldError[] {
  const nodeId = textAt(driver, 'nodeID');
  const tooLong = `must be ${MAX_NODE_ID} characters or less`;
  return [
    ...validateDriverName(`${field}.name`, textAt(driver, 'name')),
    ...(nodeId === '' ? [required(`${field}.nodeID`)] : []),
    ...(Buffer.byteLength(nodeId) > MAX_NODE_ID ? [invalidValue(`${field}.nodeID`, nodeId, tooLong)] : []),
    ...nonNegative(`${field}.allocatable.count`, numberAt(driver, 'allocatable', 'count')),
  ];
}

/** Validates a driver's topology keys. Errors refer to the driver rather than the key. */
function validateTopologyKeys(field: string, driver: JsonObject): FieldError[] {
  const keys = textsAt(driver, 'topologyKeys');
  const isRepeated = repeats(keys);
  return keys.flatMap((key, index) => [
    ...(key === '' ? [required(field)] : []),
    ...(isRepeated[index] ? [duplicate(field, key)] : []),
    ...problemsAt(field, key, qualifiedNameProblems(key)),
  ]);
}

/** Drivers can be added and removed. In existing ones, only `allocatable` can change. */
function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const drivers = new Map(objectsAt(object, 'spec', 'drivers').map((driver) => [textAt(driver, 'name'), driver]));
  const changes = objectsAt(old, 'spec', 'drivers').flatMap((before) => {
    const driver = drivers.get(textAt(before, 'name'));
    return driver === undefined ? [] : immutable('spec.drivers', withoutCount(driver), withoutCount(before));
  });
  return [...validate(object), ...changes];
}

const withoutCount = ({ allocatable: _, ...driver }: JsonObject): JsonObject => driver;

export const CSI_NODE: Strategy = { validate, validateUpdate, allowUnconditionalUpdate: false };
