import { cidrWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported } from '../field-error.ts';
import { validateLabelSelector } from '../labels.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textsAt, valueAt, withItems, withValue } from '../values.ts';
import { type PolicyOptions, validatePeer, validatePolicyPort } from './network-policy-rules.ts';

const TYPES = ['Ingress', 'Egress'];
/** For each direction, the name of a policy's list of rules, and that of the list of peers in each rule. */
const DIRECTIONS = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const;

export const networkPolicies: Strategy = {
  applyDefaults: (object) => withPolicyTypes(withProtocols(object)),
  validate: (object) => validatePolicy(object, {}),
  validateUpdate: (object, old) => validatePolicy(object, optionsOf(old)),
  warnings: policyWarnings,
  hasGeneration: true,
};

const withProtocols = (object: ApiObject): ApiObject =>
  DIRECTIONS.reduce(
    (policy, [direction]) =>
      withItems(policy, ['spec', direction], (rule) =>
        withItems(rule, ['ports'], (port) => ({ ...port, protocol: valueAt(port, 'protocol') ?? 'TCP' })),
      ),
    object,
  );

function withPolicyTypes(object: ApiObject): ApiObject {
  if (textsAt(object, 'spec', 'policyTypes').length > 0) return object;
  const hasEgress = objectsAt(object, 'spec', 'egress').length > 0;
  return withValue(object, ['spec', 'policyTypes'], hasEgress ? TYPES : ['Ingress']);
}

/** Which invalid values may be kept in an update because they are already in the old policy. */
const optionsOf = (old: ApiObject): PolicyOptions => ({
  allowInvalidValues: validateLabelSelector('', objectAt(old, 'spec', 'podSelector')).length > 0,
  existingCidrs: blocksOf(old).flatMap(({ block }) => [textAt(block, 'cidr'), ...textsAt(block, 'except')]),
});

function validatePolicy(object: ApiObject, options: PolicyOptions): FieldError[] {
  return [
    ...validateLabelSelector('spec.podSelector', objectAt(object, 'spec', 'podSelector'), options),
    ...DIRECTIONS.flatMap(([direction, peers]) =>
      objectsAt(object, 'spec', direction).flatMap((rule, index) => [
        ...objectsAt(rule, 'ports').flatMap((port, at) =>
          validatePolicyPort(`spec.${direction}[${index}].ports[${at}]`, port),
        ),
        ...objectsAt(rule, peers).flatMap((peer, at) =>
          validatePeer(`spec.${direction}[${index}].${peers}[${at}]`, peer, options),
        ),
      ]),
    ),
    ...validateTypes(textsAt(object, 'spec', 'policyTypes')),
  ];
}

function validateTypes(types: readonly string[]): FieldError[] {
  const field = 'spec.policyTypes';
  if (types.length > TYPES.length) return [invalidValue(field, types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, index) =>
    TYPES.includes(type) ? [] : [notSupported(`${field}[${index}]`, type, TYPES)],
  );
}

function blocksOf(object: ApiObject): { field: string; block: JsonObject }[] {
  return DIRECTIONS.flatMap(([direction, peers]) =>
    objectsAt(object, 'spec', direction).flatMap((rule, index) =>
      objectsAt(rule, peers).flatMap((peer, at) => {
        const block = objectAt(peer, 'ipBlock');
        return block === undefined ? [] : [{ field: `spec.${direction}[${index}].${peers}[${at}].ipBlock`, block }];
      }),
    ),
  );
}

function policyWarnings(object: ApiObject): string[] {
  return blocksOf(object).flatMap(({ field, block }) => [
    ...cidrWarnings(`${field}.cidr`, textAt(block, 'cidr')),
    ...textsAt(block, 'except').flatMap((cidr, index) => cidrWarnings(`${field}.except[${index}]`, cidr)),
  ]);
}
