import { didYouMean } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import { compareQuantities } from '../quantity.ts';
import type { ResourceList, ResourceRequirements } from '../types.ts';

const NATIVE_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
const hugePages = /^hugepages-\d+[KMGT]i$/;

/** Rules of a container's resources. Extended resources come from device plugins, which a lone node does not have yet. */
export function validateResources(resources: ResourceRequirements, issues: IssueList): void {
  const { limits = {}, requests = {} } = resources;
  validateResourceList(limits, issues.at('limits'));
  // defaulting copied limits to requests: what is wrong with those was said above
  const own = Object.entries(requests).filter(
    ([name, request]) => !Object.hasOwn(limits, name) || limits[name] !== request,
  );
  validateResourceList(Object.fromEntries(own), issues.at('requests'));
  for (const [name, request] of Object.entries(requests)) {
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    if (limit !== undefined && compareQuantities(request, limit) > 0) {
      issues.at('requests', name).add(`must be at most the limit of ${limit}, got ${request}`);
    }
    if (hugePages.test(name) && (limit === undefined || compareQuantities(request, limit) !== 0)) {
      issues.at('requests', name).add('must equal the limit: huge pages cannot be overcommitted');
    }
  }
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)]);
  if ([...names].some((name) => hugePages.test(name)) && !names.has('cpu') && !names.has('memory')) {
    issues.add('huge pages need a cpu or memory request as well');
  }
}

/** Rules of a list of amounts: known names, nothing negative. */
export function validateResourceList(list: ResourceList, issues: IssueList): void {
  for (const [name, quantity] of Object.entries(list)) {
    if (!NATIVE_RESOURCES.includes(name) && !hugePages.test(name)) {
      issues
        .at(name)
        .addKey(
          `this node has no resource of that name; it has ${NATIVE_RESOURCES.join(', ')}${didYouMean(name, NATIVE_RESOURCES)}`,
        );
    }
    if (compareQuantities(quantity, '0') < 0) issues.at(name).add(`must not be negative, got ${quantity}`);
  }
}
