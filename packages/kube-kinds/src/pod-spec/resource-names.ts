/** The names of resources (pkg/apis/core/helper). */
import { isExtendedResource, isQuantity, parseQuantity } from '@podwright/kube-api';
import type { Field } from '../field.ts';
import { qualifiedNameProblems } from '../names.ts';

const NANOS_PER_UNIT = 1_000_000_000n;
const HUGE_PAGES = 'hugepages-';

const CONTAINER_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
const COUNTED = ['pods', 'resourcequotas', 'services', 'replicationcontrollers', 'secrets', 'configmaps'];
const COUNTED_TOO = ['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'];
const STANDARD = [
  ...CONTAINER_RESOURCES,
  ...CONTAINER_RESOURCES.map((name) => `requests.${name}`),
  ...CONTAINER_RESOURCES.map((name) => `limits.${name}`),
  ...COUNTED,
  ...COUNTED_TOO,
  'storage',
  'requests.storage',
];
/** As upstream shows them: a name that ends with a dash is a prefix. */
const POD_LEVEL = ['cpu', HUGE_PAGES, 'memory'];

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Whether the amount is a multiple of the page size in the resource's name. */
export function isDivisibleHugePages(name: string, quantity: string): boolean {
  const size = name.slice(HUGE_PAGES.length);
  if (!isQuantity(size)) return false;
  const page = parseQuantity(size).nanos;
  return page > 0n && page % NANOS_PER_UNIT === 0n && parseQuantity(quantity).nanos % page === 0n;
}

/** Whether containers may request less of the resource than its limit. */
export const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

/** Whether the resource is counted in whole units. */
export const isIntegerResource = (name: string): boolean =>
  COUNTED.includes(name) || COUNTED_TOO.includes(name) || isExtendedResource(name);

const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

export type NameRule = (name: string, field: Field) => void;

export const validateContainerResourceName: NameRule = (name, field) => {
  validateResourceName(name, field);
  if (!name.includes('/')) {
    if (!CONTAINER_RESOURCES.includes(name) && !isHugePages(name))
      field.invalid(name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtendedResource(name))
    field.invalid(name, "doesn't follow extended resource name standard");
};

export const validatePodResourceName: NameRule = (name, field) => {
  const before = field.errors.length;
  validateResourceName(name, field);
  if (field.errors.length > before || POD_LEVEL.includes(name) || isHugePages(name)) return;
  field.notSupported(name, POD_LEVEL);
};

function validateResourceName(name: string, field: Field): void {
  const problems = qualifiedNameProblems(name);
  field.invalidEach(name, problems);
  const isStandard = STANDARD.includes(name) || isHugePages(name) || isHugePages(name.replace(/^requests\./, ''));
  if (problems.length === 0 && !name.includes('/') && !isStandard)
    field.invalid(name, 'must be a standard resource type or fully qualified');
}
