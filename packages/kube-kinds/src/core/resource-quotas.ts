import { compareQuantities } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required } from '../field-error.ts';
import { validateAmount, validateQuotaResourceName } from '../resource-names.ts';
import type { Strategy } from '../strategy.ts';
import { textEntriesAt, textsAt } from '../values.ts';
import { validateScopeSelector, validateScopes } from './quota-scopes.ts';
import { statusSubresource, withRoundedAmounts } from './status.ts';

export const resourceQuotas: Strategy = {
  applyDefaults: (object) =>
    [
      ['spec', 'hard'],
      ['status', 'hard'],
      ['status', 'used'],
    ].reduce(withRoundedAmounts<ApiObject>, object),
  prepareForCreate: (object) => ({ ...object, status: {} }),
  validate: (object) => [...validateSpec(object), ...validateStatus(object)],
  validateUpdate: (object, old) => [...validateSpec(object), ...validateScopeChange(object, old)],
  warnings: (object, old) => (old === undefined ? quotaWarnings(object) : []),
  subresources: {
    status: statusSubresource((object) => [
      ...(object.metadata.resourceVersion ? [] : [required('resourceVersion')]),
      ...validateStatus(object),
    ]),
  },
};

const validateSpec = (object: ApiObject): FieldError[] => [
  ...validateList(object, 'spec', 'hard'),
  ...validateScopes(object),
  ...validateScopeSelector(object),
];

const validateStatus = (object: ApiObject): FieldError[] => [
  ...validateList(object, 'status', 'hard'),
  ...validateList(object, 'status', 'used'),
];

const validateList = (object: ApiObject, part: 'spec' | 'status', list: 'hard' | 'used'): FieldError[] =>
  textEntriesAt(object, part, list).flatMap(([name, amount]) => {
    const field = `${part}.${list}[${name}]`;
    return [...validateQuotaResourceName(field, name), ...validateAmount(field, name, amount)];
  });

function validateScopeChange(object: ApiObject, old: ApiObject): FieldError[] {
  const scopes = textsAt(object, 'spec', 'scopes');
  const oldScopes = textsAt(old, 'spec', 'scopes');
  const isSame =
    scopes.every((scope) => oldScopes.includes(scope)) && oldScopes.every((scope) => scopes.includes(scope));
  if (isSame) return [];
  return [invalidValue('spec.scopes', (object.spec as { scopes?: unknown })?.scopes, 'field is immutable')];
}

/** Warns if a resource's requests quota exceeds its limits quota. */
function quotaWarnings(object: ApiObject): string[] {
  const hard = new Map(textEntriesAt(object, 'spec', 'hard'));
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const isShort = !hard.has(`requests.${name}`) && (name === 'cpu' || name === 'memory');
    const requestName = isShort ? name : `requests.${name}`;
    const request = hard.get(requestName);
    const limit = hard.get(`limits.${name}`);
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) return [];
    return [`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`];
  });
}
