import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { repeats } from '../repeats.ts';
import { immutable } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, listAt, numberAt, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const MIN_UPDATE_PERIOD_SECONDS = 10;
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

const DEFAULTS = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
};

function applyDefaults(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec') ?? {};
  const given = Object.entries(spec).filter(([, value]) => value !== null);
  const hasModes = listAt(spec, 'volumeLifecycleModes').length > 0;
  const modes = hasModes ? {} : { volumeLifecycleModes: ['Persistent'] };
  return { ...object, spec: { ...DEFAULTS, ...Object.fromEntries(given), ...modes } };
}

/** Field of CSIDriver that belongs to an alpha feature, which is disabled. */
const FIELD_OF_FEATURE = 'preventPodSchedulingIfMissing';

function withoutFeatures(object: ApiObject): ApiObject {
  const { [FIELD_OF_FEATURE]: _, ...spec } = objectAt(object, 'spec') ?? {};
  return { ...object, spec };
}

/** Keeps `preventPodSchedulingIfMissing` only if the old object has it. */
const prepareForUpdate = (object: ApiObject, old: ApiObject): ApiObject =>
  valueAt(old, 'spec', FIELD_OF_FEATURE) === undefined ? withoutFeatures(object) : object;

function validate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, 'spec');
  const missing = (name: string, field = name) =>
    valueAt(spec, name) === undefined ? [required(`spec.${field}`)] : [];
  const policy = valueAt(spec, 'fsGroupPolicy');
  const wrongPolicy = policy !== undefined && !FS_GROUP_POLICIES.includes(String(policy));
  return [
    ...missing('attachRequired', 'attachedRequired'),
    ...missing('podInfoOnMount'),
    ...missing('storageCapacity'),
    ...(wrongPolicy ? [notSupported('spec.fsGroupPolicy', policy, FS_GROUP_POLICIES)] : []),
    ...validateTokenRequests('spec.tokenRequests', spec),
    ...textsAt(spec, 'volumeLifecycleModes')
      .filter((mode) => !LIFECYCLE_MODES.includes(mode))
      .map((mode) => notSupported('spec.volumeLifecycleModes', mode, LIFECYCLE_MODES)),
    ...missing('seLinuxMount'),
    ...validateUpdatePeriod('spec.nodeAllocatableUpdatePeriodSeconds', spec),
    ...validateTokensInSecrets('spec.serviceAccountTokenInSecrets', spec),
  ];
}

function validateTokenRequests(field: string, spec: unknown): FieldError[] {
  const requests = objectsAt(spec, 'tokenRequests');
  const audiences = requests.map((request) => textAt(request, 'audience'));
  const isRepeated = repeats(audiences);
  return requests.flatMap((request, index) => {
    const at = `${field}[${index}]`;
    if (isRepeated[index]) return [duplicate(`${at}.audience`, audiences[index])];
    return validateTokenSeconds(`${at}.expirationSeconds`, numberAt(request, 'expirationSeconds'));
  });
}

function validateTokenSeconds(field: string, seconds: number | undefined): FieldError[] {
  if (seconds === undefined) return [];
  if (seconds < MIN_TOKEN_SECONDS)
    return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds <= MAX_TOKEN_SECONDS) return [];
  return [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
}

function validateUpdatePeriod(field: string, spec: unknown): FieldError[] {
  const seconds = numberAt(spec, 'nodeAllocatableUpdatePeriodSeconds');
  if (seconds === undefined || seconds >= MIN_UPDATE_PERIOD_SECONDS) return [];
  return [invalidValue(field, seconds, 'must be greater than or equal to 10 seconds')];
}

function validateTokensInSecrets(field: string, spec: unknown): FieldError[] {
  const value = valueAt(spec, 'serviceAccountTokenInSecrets');
  if (value === undefined || listAt(spec, 'tokenRequests').length > 0) return [];
  const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  return [invalidValue(field, value, detail)];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object),
  ...immutable(
    'spec.attachedRequired',
    valueAt(object, 'spec', 'attachRequired'),
    valueAt(old, 'spec', 'attachRequired'),
  ),
  ...immutable(
    'spec.volumeLifecycleModes',
    listAt(object, 'spec', 'volumeLifecycleModes'),
    listAt(old, 'spec', 'volumeLifecycleModes'),
  ),
];

const TOKENS_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function warnings(object: ApiObject, old: ApiObject | undefined): string[] {
  const requests = listAt(object, 'spec', 'tokenRequests');
  if (requests.length === 0 || valueAt(object, 'spec', 'serviceAccountTokenInSecrets') !== undefined) return [];
  return old !== undefined && isSameValue(requests, listAt(old, 'spec', 'tokenRequests')) ? [] : [TOKENS_WARNING];
}

export const CSI_DRIVER: Strategy = {
  applyDefaults,
  prepareForCreate: withoutFeatures,
  prepareForUpdate,
  validate,
  validateUpdate,
  warnings,
  allowUnconditionalUpdate: false,
  hasGeneration: true,
  startsWithoutGeneration: true,
};
