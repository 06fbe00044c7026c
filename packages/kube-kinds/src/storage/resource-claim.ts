import type { ApiObject } from '../api-object.ts';
import { type FieldError, required } from '../field-error.ts';
import { immutable } from '../rules.ts';
import { statusWith, withStatusOf } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, valueAt, withItems, withValue } from '../values.ts';
import { validateClaimStatus } from './claim-allocation.ts';
import { MAX_CONFIGS, MAX_REQUESTS, validateConfigFor, validateReferences } from './device-config.ts';
import { allocatedIds, deviceId } from './device-ids.ts';
import { validateItems, validateSet } from './device-lists.ts';
import { validateFullyQualifiedName } from './device-names.ts';
import { requestNames, validateRequest, withRequestDefaults, withTolerationDefaults } from './device-requests.ts';

const MAX_CONSTRAINTS = 32;
const RESULTS = ['status', 'allocation', 'devices', 'results'];

const applyDefaults = (object: ApiObject): ApiObject =>
  withItems(withRequestDefaults(object, ['spec', 'devices', 'requests']), RESULTS, withTolerationDefaults);

const validate = (object: ApiObject): FieldError[] => validateClaimSpec('spec', objectAt(object, 'spec') ?? {});

/** Validates the spec of a claim, or that of a claim template. */
export function validateClaimSpec(field: string, spec: JsonObject): FieldError[] {
  const devices = objectAt(spec, 'devices');
  const names = requestNames(devices);
  const at = `${field}.devices`;
  const validateConstraint = (path: string, constraint: JsonObject) => validateConstraintOf(names, path, constraint);
  return [
    ...validateSet(`${at}.requests`, objectsAt(devices, 'requests'), {
      max: MAX_REQUESTS,
      validate: validateRequest,
      key: (request) => textAt(request, 'name'),
    }),
    ...validateItems(`${at}.constraints`, objectsAt(devices, 'constraints'), {
      max: MAX_CONSTRAINTS,
      validate: validateConstraint,
    }),
    ...validateItems(`${at}.config`, objectsAt(devices, 'config'), {
      max: MAX_CONFIGS,
      validate: validateConfigFor(names),
    }),
  ];
}

function validateConstraintOf(names: ReadonlySet<string>, field: string, constraint: JsonObject): FieldError[] {
  const errors = validateReferences(`${field}.requests`, textsAt(constraint, 'requests'), names);
  const attribute = ['matchAttribute', 'distinctAttribute'].find((name) => valueAt(constraint, name) !== undefined);
  const one = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  if (attribute === undefined) return [...errors, required(field, one)];
  return [...errors, ...validateFullyQualifiedName(`${field}.${attribute}`, textAt(constraint, attribute))];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => immutable('spec', object.spec, old.spec);

/** Removes the status of devices that are no longer allocated. */
function prepareForStatusUpdate(object: ApiObject, old: ApiObject): ApiObject {
  const prepared = withStatusOf(object, old);
  const devices = objectsAt(prepared, 'status', 'devices');
  const allocated = allocatedIds(prepared);
  const released = new Set([...allocatedIds(old)].filter((id) => !allocated.has(id)));
  const remaining = devices.filter((device) => !released.has(deviceId(device)));
  if (remaining.length === devices.length) return prepared;
  return withValue(prepared, ['status', 'devices'], remaining.length === 0 ? undefined : remaining);
}

export const RESOURCE_CLAIM: Strategy = {
  applyDefaults,
  validate,
  validateUpdate,
  subresources: { status: { ...statusWith(validateClaimStatus), prepareForUpdate: prepareForStatusUpdate } },
};
