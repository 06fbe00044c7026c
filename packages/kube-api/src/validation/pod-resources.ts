import type { IssueList } from '../issue.ts';
import type { PodSpec, ResourceRequirements } from '../objects/types.ts';
import {
  containerAmount,
  containersAmount,
  containersAmountNames,
  isHugePages,
  isPodLevelResource,
  podLevelAmount,
} from '../pods/pod-amounts.ts';
import { formatQuantity } from '../values/quantity.ts';
import { validateResources } from './resources.ts';

/** Validates the pod-level resources. They must be sufficient for the containers. */
export function validatePodResources(spec: PodSpec, issues: IssueList): void {
  const { resources } = spec;
  if (resources === undefined) return;
  if (spec.os?.name === 'windows') return issues.addKey('must not be set for a windows pod');
  validateResources(resources, issues);
  refuseNames(resources, issues);
  validateSums(spec, issues);
  validateContainerLimits(spec, issues);
}

function refuseNames({ limits = {}, requests = {} }: ResourceRequirements, issues: IssueList): void {
  for (const [kind, list] of Object.entries({ limits, requests }))
    for (const name of Object.keys(list).filter((one) => one === 'ephemeral-storage' || one.includes('/')))
      issues.at(kind, name).addKey('is only for containers; a pod as a whole has cpu, memory and hugepages-*');
}

/** Checks that the containers' total requests and huge page limits do not exceed the pod's. */
function validateSums(spec: PodSpec, issues: IssueList): void {
  for (const kind of ['requests', 'limits'] as const) {
    for (const name of containersAmountNames(spec, kind).filter(isPodLevelResource)) {
      const own = podLevelAmount(spec, kind, name);
      if (own === undefined || (kind === 'limits' && !isHugePages(name))) continue;
      const sum = containersAmount(spec, kind, name);
      const text = spec.resources![kind]![name]!;
      if (sum > own)
        issues
          .at(kind, name)
          .add(`must be at least ${formatQuantity(sum, text)}, the ${kind} of all containers together, got ${text}`);
    }
  }
}

function validateContainerLimits(spec: PodSpec, issues: IssueList): void {
  for (const container of spec.containers)
    for (const name of Object.keys(container.resources?.limits ?? {}).filter(isPodLevelResource)) {
      const own = podLevelAmount(spec, 'limits', name);
      if (own === undefined || containerAmount(container, 'limits', name) <= own) continue;
      const text = container.resources!.limits![name]!;
      issues.at('limits', name).add(`must be at least ${text}, the limit of container "${container.name}"`);
    }
}
