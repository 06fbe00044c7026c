/** Validates the resource requirements of containers and pods (core/validation: validateResourceRequirements). */
import { compareQuantities } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import { dns1123LabelProblems } from '../names.ts';
import { isDivisibleHugePages, isHugePages, isOvercommitAllowed, validateAmount } from '../resource-names.ts';
import { type JsonObject, objectsAt, textAt, textEntriesAt } from '../values.ts';
import type { PodOptions } from './options.ts';

export type ResourceRules = {
  nameRule: (field: string, name: string) => FieldError[];
  /** Names of the claims in the pod's `spec.resourceClaims`. */
  claimNames: ReadonlySet<string>;
  options: PodOptions;
};

export function validateResources(resources: JsonObject | undefined, field: Field, rules: ResourceRules): void {
  const limits = textEntriesAt(resources, 'limits');
  const requests = textEntriesAt(resources, 'requests');
  for (const amount of limits) validateEntry(amount, field.at('limits').key(amount[0]), rules);
  for (const amount of requests) {
    validateEntry(amount, field.at('requests').key(amount[0]), rules);
    validateAgainstLimit(amount, new Map(limits), field);
  }
  const names = [...limits, ...requests].map(([name]) => name);
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    field.forbidden('HugePages require cpu or memory');
  validateClaims(objectsAt(resources, 'claims'), field.at('claims'), rules.claimNames);
}

function validateEntry([name, quantity]: [string, string], field: Field, { nameRule, options }: ResourceRules): void {
  field.add(nameRule(field.path, name));
  field.add(validateAmount(field.path, name, quantity));
  if (!isHugePages(name) || options.allowIndivisibleHugePages || isDivisibleHugePages(name, quantity)) return;
  field.invalid(quantity, `${quantity} is not positive integer multiple of ${name}`);
}

function validateAgainstLimit([name, request]: [string, string], limits: Map<string, string>, field: Field): void {
  const limit = limits.get(name);
  if (limit === undefined) {
    if (!isOvercommitAllowed(name)) field.at('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const order = compareQuantities(request, limit);
  const at = field.at('requests');
  if (order !== 0 && !isOvercommitAllowed(name)) at.invalid(request, `must be equal to ${name} limit of ${limit}`);
  else if (order > 0) at.invalid(request, `must be less than or equal to ${name} limit of ${limit}`);
}

function validateClaims(claims: readonly JsonObject[], field: Field, claimNames: ReadonlySet<string>): void {
  const seen: SeenClaims = { keys: new Set(), requested: new Map() };
  for (const [index, claim] of claims.entries()) {
    const at = field.at(index);
    const name = textAt(claim, 'name');
    if (name === '') {
      at.required();
      continue;
    }
    validateClaimRequest(name, textAt(claim, 'request'), { at, seen });
    if (claimNames.has(name)) continue;
    const known = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
    at.notFound(name, `must be one of the names in pod.spec.resourceClaims${known}`);
  }
}

/**
 * The claims that a container has referred to so far, as `claim` or `claim/request`. `requested` counts the references to single requests
 * of each claim.
 */
type SeenClaims = { keys: Set<string>; requested: Map<string, number> };

/**
 * Validates a container's reference to a resource claim. A claim may be referenced either once as a whole, or once for each of several
 * requests in it.
 */
function validateClaimRequest(name: string, request: string, { at, seen }: { at: Field; seen: SeenClaims }): void {
  if (seen.keys.has(name)) return at.duplicate(name);
  if (request !== '') at.at('request').invalidEach(request, dns1123LabelProblems(request));
  const key = request === '' ? name : `${name}/${request}`;
  const requested = seen.requested.get(name) ?? 0;
  if (seen.keys.has(key)) return at.duplicate(key);
  if (request === '') for (let count = 0; count < requested; count++) at.duplicate(name);
  else seen.requested.set(name, requested + 1);
  seen.keys.add(key);
}
