/** Names and amounts of resources in quotas, limit ranges and nodes (pkg/apis/core/helper). */
import { isExtendedResource, isQuantity, parseQuantity } from '@podwright/kube-api';
import { type FieldError, invalidValue } from './field-error.ts';
import { qualifiedNameProblems } from './names.ts';
import { nonNegativeQuantity, problemsAt } from './rules.ts';

const NANOS_PER_UNIT = 1_000_000_000n;
const HUGE_PAGES = 'hugepages-';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const QUOTA_RESOURCES = new Set([
  ...COMPUTE,
  ...COMPUTE.map((name) => `requests.${name}`),
  ...COMPUTE.map((name) => `limits.${name}`),
  'requests.storage',
  ...COUNTS,
]);

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Returns true if the amount is a multiple of the huge page size in the resource name. */
export function isDivisibleHugePages(name: string, quantity: string): boolean {
  const size = name.slice(HUGE_PAGES.length);
  if (!isQuantity(size)) return false;
  const page = parseQuantity(size).nanos;
  return page > 0n && page % NANOS_PER_UNIT === 0n && parseQuantity(quantity).nanos % page === 0n;
}

/** Returns true if the resource is supported in quotas and has no domain prefix. */
export const isQuotaResource = (name: string): boolean =>
  QUOTA_RESOURCES.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);

const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Returns true if requests for a resource may be lower than its limit. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

/** Validates a resource name in a quota (ValidateResourceQuotaResourceName). */
export function validateQuotaResourceName(field: string, name: string): FieldError[] {
  const errors = validateResourceName(field, name);
  if (!name.includes('/') && !isQuotaResource(name))
    errors.push(invalidValue(field, name, 'must be a standard resource for quota'));
  return errors;
}

/** Validates a resource name. It must be a standard resource or a qualified name. */
export function validateResourceName(field: string, name: string): FieldError[] {
  const errors = problemsAt(field, name, qualifiedNameProblems(name));
  if (errors.length > 0 || name.includes('/') || isQuotaResource(name) || name === 'storage') return errors;
  return [invalidValue(field, name, 'must be a standard resource type or fully qualified')];
}

/** Validates the name of a resource requested by a container. */
export function validateContainerResourceName(field: string, name: string): FieldError[] {
  const errors = validateResourceName(field, name);
  if (!name.includes('/')) {
    if (!COMPUTE.includes(name) && !isHugePages(name))
      errors.push(invalidValue(field, name, 'must be a standard resource for containers'));
  } else if (!isNative(name) && !isExtendedResource(name))
    errors.push(invalidValue(field, name, "doesn't follow extended resource name standard"));
  return errors;
}

/** Validates an amount: it must not be negative and, for some resources, must be an integer (ValidateResourceQuantityValue). */
export function validateAmount(field: string, name: string, amount: string): FieldError[] {
  const errors = nonNegativeQuantity(field, amount);
  const isCounted = COUNTS.includes(name) || isExtendedResource(name);
  if (isCounted && parseQuantity(amount).nanos % NANOS_PER_UNIT !== 0n)
    errors.push(invalidValue(field, amount, 'must be an integer'));
  return errors;
}
