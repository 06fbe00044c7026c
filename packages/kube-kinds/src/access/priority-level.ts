import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { statusWith } from '../status-update.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, type JsonObject, numberAt, objectAt, textAt, valueAt, withValue } from '../values.ts';
import { validateFlowStatus } from './flow-schema.ts';
import { MANDATORY_PRIORITY_LEVELS } from './mandatory-flows.ts';

const TYPES = ['Exempt', 'Limited'];
const RESPONSES = ['Queue', 'Reject'];
const MAX_QUEUES = 10_000_000;
const MAX_ENTROPY_BITS = 60;
const QUEUING = ['spec', 'limited', 'limitResponse', 'queuing'];
const ANNOTATION = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

/** Sets the defaults. Zeros are treated as unset only in the queuing configuration. */
function applyDefaults(object: ApiObject): ApiObject {
  const filled = [
    [['spec', 'exempt'], { nominalConcurrencyShares: 0, lendablePercent: 0 }],
    [['spec', 'limited'], { nominalConcurrencyShares: 30, lendablePercent: 0 }],
  ] as const;
  const shared = filled.reduce((result, [path, defaults]) => fill(result, path, defaults), object);
  const queuing = objectAt(shared, ...QUEUING);
  const given = Object.fromEntries(Object.entries(queuing ?? {}).filter(([, value]) => value !== 0));
  const queue = { queues: 64, handSize: 8, queueLengthLimit: 50, ...given };
  return queuing === undefined ? shared : withValue(shared, QUEUING, queue);
}

function fill(object: ApiObject, path: readonly string[], defaults: JsonObject): ApiObject {
  const value = objectAt(object, ...path);
  if (value === undefined) return object;
  const given = Object.entries(value).filter(([, one]) => one !== null);
  return withValue(object, path, { ...defaults, ...Object.fromEntries(given) });
}

function validate(object: ApiObject): FieldError[] {
  const hasAnnotation = valueAt(object.metadata, 'annotations', ANNOTATION) !== undefined;
  const forbidden = forbiddenField('metadata.annotations', `annotation '${ANNOTATION}' is forbidden`);
  return [
    ...(hasAnnotation ? [forbidden] : []),
    ...validateSpec('spec', object),
    ...validateMandatory('spec', object),
    ...validateFlowStatus(object),
  ];
}

function validateSpec(field: string, object: ApiObject): FieldError[] {
  const type = textAt(object, 'spec', 'type');
  const isExempt = object.metadata.name === 'exempt';
  const detail = "must be 'Exempt' if and only if `name` is 'exempt'";
  const wrongType = isExempt === (type === 'Exempt') ? [] : [invalidValue(`${field}.type`, type, detail)];
  const exempt = objectAt(object, 'spec', 'exempt');
  const limited = objectAt(object, 'spec', 'limited');
  switch (type) {
    case 'Exempt':
      return [
        ...wrongType,
        ...(limited ? [forbiddenField(`${field}.limited`, 'must be nil if the type is not Limited')] : []),
        ...(exempt ? validateShares(`${field}.exempt`, exempt) : []),
      ];
    case 'Limited':
      return [
        ...wrongType,
        ...(exempt ? [forbiddenField(`${field}.exempt`, 'must be nil if the type is Limited')] : []),
        ...(limited
          ? validateLimited(`${field}.limited`, limited)
          : [required(`${field}.limited`, 'must not be empty when type is Limited')]),
      ];
    default:
      return [...wrongType, notSupported(`${field}.type`, type, TYPES)];
  }
}

const validateShares = (field: string, level: JsonObject): FieldError[] => [
  ...validateNominal(`${field}.nominalConcurrencyShares`, level),
  ...validateLendable(`${field}.lendablePercent`, level),
];

function validateNominal(field: string, level: JsonObject): FieldError[] {
  const shares = numberAt(level, 'nominalConcurrencyShares') ?? 0;
  return shares < 0 ? [invalidValue(field, shares, 'must be a non-negative integer')] : [];
}

function validateLendable(field: string, level: JsonObject): FieldError[] {
  const percent = numberAt(level, 'lendablePercent') ?? 0;
  const isValid = percent >= 0 && percent <= 100;
  return isValid ? [] : [invalidValue(field, percent, 'must be between 0 and 100, inclusive')];
}

function validateLimited(field: string, level: JsonObject): FieldError[] {
  const borrowing = numberAt(level, 'borrowingLimitPercent') ?? 0;
  const negative = 'if specified, must be a non-negative integer';
  return [
    ...validateNominal(`${field}.nominalConcurrencyShares`, level),
    ...validateResponse(`${field}.limitResponse`, objectAt(level, 'limitResponse') ?? {}),
    ...validateLendable(`${field}.lendablePercent`, level),
    ...(borrowing < 0 ? [invalidValue(`${field}.borrowingLimitPercent`, borrowing, negative)] : []),
  ];
}

function validateResponse(field: string, response: JsonObject): FieldError[] {
  const type = textAt(response, 'type');
  const queuing = objectAt(response, 'queuing');
  const at = `${field}.queuing`;
  const forbidden = forbiddenField(at, 'must be nil if limited.limitResponse.type is not Limited');
  const missing = required(at, 'must not be empty if limited.limitResponse.type is Limited');
  if (type === 'Reject') return queuing === undefined ? [] : [forbidden];
  if (type === 'Queue') return queuing === undefined ? [missing] : validateQueuing(at, queuing);
  return [notSupported(`${field}.type`, type, RESPONSES)];
}

function validateQueuing(field: string, queuing: JsonObject): FieldError[] {
  const [queues, length] = [numberAt(queuing, 'queues') ?? 0, numberAt(queuing, 'queueLengthLimit') ?? 0];
  const tooMany = `must not be greater than ${MAX_QUEUES}`;
  return [
    ...(length > 0 ? [] : [invalidValue(`${field}.queueLengthLimit`, length, 'must be positive')]),
    ...(queues > 0 ? [] : [invalidValue(`${field}.queues`, queues, 'must be positive')]),
    ...(queues > MAX_QUEUES ? [invalidValue(`${field}.queues`, queues, tooMany)] : []),
    ...validateHand(`${field}.handSize`, numberAt(queuing, 'handSize') ?? 0, queues),
  ];
}

/** Validates the hand size. A flow's queues are derived from the bits of a hash, so there must be enough bits for them. */
function validateHand(field: string, size: number, queues: number): FieldError[] {
  if (size <= 0) return [invalidValue(field, size, 'must be positive')];
  if (size > queues) return [invalidValue(field, size, `should not be greater than queues (${queues})`)];
  if (Math.ceil(Math.log2(queues) * size) <= MAX_ENTROPY_BITS) return [];
  const detail = `required entropy bits of deckSize ${queues} and handSize ${size} should not be greater than ${MAX_ENTROPY_BITS}`;
  return [invalidValue(field, size, detail)];
}

/** Requires the spec of a mandatory priority level to have its fixed value, except for `spec.exempt` of the level `exempt`. */
function validateMandatory(field: string, object: ApiObject): FieldError[] {
  const name = object.metadata.name ?? '';
  const mandatory = MANDATORY_PRIORITY_LEVELS.get(name);
  const spec = objectAt(object, 'spec') ?? {};
  const compared = name === 'exempt' ? { ...spec, exempt: mandatory?.exempt } : spec;
  if (mandatory === undefined || isSameValue(compared, mandatory)) return [];
  const except = name === 'exempt' ? " except the 'spec.exempt' field" : '';
  return [invalidValue(field, spec, `spec of '${name}'${except} must equal the fixed value`)];
}

export const PRIORITY_LEVEL_CONFIGURATION: Strategy = {
  applyDefaults,
  validate,
  validateUpdate: validate,
  subresources: { status: statusWith(validateFlowStatus) },
  hasGeneration: true,
};
