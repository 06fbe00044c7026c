import { didYouMean } from '@podwright/base';
import { IssueList } from '../issue.ts';
import type { ResourceList, ResourceRequirements } from '../objects/types.ts';
import { compareQuantities, parseQuantity } from '../values/quantity.ts';
import { qualifiedName } from './names.ts';

const NATIVE_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
const hugePages = /^hugepages-\d+[KMGT]i$/;

/** Whether this is an extended resource, such as `vendor.example/widget` (IsExtendedResourceName). */
export function isExtendedResource(name: string): boolean {
  if (!name.includes('/') || name.includes('kubernetes.io/') || name.startsWith('requests.')) return false;
  const issues = new IssueList();
  qualifiedName(`requests.${name}`, issues);
  return issues.count === 0;
}

/** Validates the resources of a container or pod. */
export function validateResources(resources: ResourceRequirements, issues: IssueList): void {
  const { limits = {}, requests = {} } = resources;
  validateResourceList(limits, issues.at('limits'));
  // skip requests equal to their limit, which has been validated: they might be copies made by defaulting
  const own = Object.entries(requests).filter(
    ([name, request]) => !Object.hasOwn(limits, name) || limits[name] !== request,
  );
  validateResourceList(Object.fromEntries(own), issues.at('requests'));
  for (const [name, request] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit !== undefined && compareQuantities(request, limit) > 0) {
      issues.at('requests', name).add(`must be at most the limit of ${limit}, got ${request}`);
    }
    const isWhole = hugePages.test(name) || isExtendedResource(name);
    if (isWhole && (limit === undefined || compareQuantities(request, limit) !== 0)) {
      const what = hugePages.test(name) ? 'huge pages' : 'devices';
      issues.at('requests', name).add(`must equal the limit: ${what} cannot be overcommitted`);
    }
  }
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)]);
  if ([...names].some((name) => hugePages.test(name)) && !names.has('cpu') && !names.has('memory')) {
    issues.add('huge pages need a cpu or memory request as well');
  }
}

/** Validates a resource list: the node must have the resources, and quantities must not be negative. */
export function validateResourceList(list: ResourceList, issues: IssueList): void {
  for (const [name, quantity] of Object.entries(list)) {
    const isExtended = isExtendedResource(name);
    if (isExtended && parseQuantity(quantity).nanos % 1_000_000_000n !== 0n)
      issues.at(name).add(`must be a whole number, got ${quantity}`);
    if (!NATIVE_RESOURCES.includes(name) && !hugePages.test(name) && !isExtended) {
      issues
        .at(name)
        .addKey(
          `this node has no resource of that name; it has ${NATIVE_RESOURCES.join(', ')}${didYouMean(name, NATIVE_RESOURCES)}`,
        );
    }
    if (compareQuantities(quantity, '0') < 0) issues.at(name).add(`must not be negative, got ${quantity}`);
  }
}
