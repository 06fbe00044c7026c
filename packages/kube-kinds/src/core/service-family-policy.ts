/** Validates a service's IP family policy against the requested addresses and families. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import { clusterIpsOf, familiesOf, policyOf } from './service-fields.ts';

export const POLICY_FIELD = 'spec.ipFamilyPolicy';

/** Rejects the release of a service's secondary cluster IP or IP family unless its policy is SingleStack. */
export function validateReduction(service: ApiObject, old: ApiObject): FieldError[] {
  const policy = policyOf(service);
  if (policy === 'SingleStack') return [];
  const lists = [
    [clusterIpsOf, 'cluster IP'],
    [familiesOf, 'IP family'],
  ] as const;
  return lists
    .filter(([listOf]) => listOf(service).length > 0 && listOf(service).length < listOf(old).length)
    .map(([, words]) => invalidValue(POLICY_FIELD, policy, `must be 'SingleStack' to release the secondary ${words}`));
}

/** Rejects a second address or family with policy SingleStack. */
export function validateSingle(service: ApiObject): FieldError[] {
  const policy = policyOf(service);
  if (policy !== 'SingleStack') return [];
  const error = (words: string) =>
    invalidValue(
      POLICY_FIELD,
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${words} are specified`,
    );
  return [
    ...(clusterIpsOf(service).length === 2 ? [error('cluster IPs')] : []),
    ...(familiesOf(service).length === 2 ? [error('IP families')] : []),
  ];
}
