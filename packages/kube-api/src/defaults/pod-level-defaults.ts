import type { ResourceList, ResourceRequirements } from '../objects/container.ts';
import type { PodSpec } from '../objects/pod.ts';
import {
  type AmountKind,
  containersAmount,
  containersAmountNames,
  isHugePages,
  isPodLevelResource,
} from '../pods/pod-amounts.ts';
import { formatQuantity } from '../values/quantity.ts';

/**
 * Sets the defaults of pod-level resources. Huge page limits default to the containers' total. Requests default to the containers' total
 * or, if no container has a request, to the pod-level limit. Requires the containers' own defaults to be set already.
 */
export function completePodResources(spec: PodSpec): ResourceRequirements | undefined {
  if (spec.resources === undefined) return undefined;
  const limits = completeLimits(spec, spec.resources);
  if (limits === undefined || Object.keys(limits).length === 0) return spec.resources;
  return { ...spec.resources, limits, requests: completeRequests(spec, spec.resources, limits) };
}

function completeLimits(spec: PodSpec, { limits, requests }: ResourceRequirements): ResourceList | undefined {
  if (Object.keys({ ...limits, ...requests }).length === 0) return limits;
  const names = containersAmountNames(spec, 'limits').filter(
    (name) => isHugePages(name) && !Object.hasOwn(requests ?? {}, name),
  );
  return names.length === 0 ? limits : { ...amountsOf(spec, 'limits', names), ...limits };
}

function completeRequests(spec: PodSpec, { requests }: ResourceRequirements, limits: ResourceList): ResourceList {
  const names = containersAmountNames(spec, 'requests').filter(
    (name) => isPodLevelResource(name) && !isHugePages(name),
  );
  const ownLimits = Object.entries(limits).filter(([name]) => isPodLevelResource(name));
  return { ...Object.fromEntries(ownLimits), ...amountsOf(spec, 'requests', names), ...requests };
}

function amountsOf(spec: PodSpec, kind: AmountKind, names: string[]): ResourceList {
  return Object.fromEntries(
    names.map((name) => [name, formatQuantity(containersAmount(spec, kind, name), unitOf(spec, kind, name))]),
  );
}

/**
 * Returns the resource's quantity in the first container that has one. The total is formatted with the same kind of suffix (binary or
 * decimal).
 */
function unitOf({ containers, initContainers = [] }: PodSpec, kind: AmountKind, name: string): string {
  const texts = [...containers, ...initContainers].map(({ resources }) => resources?.[kind]?.[name]);
  return texts.find((text) => text !== undefined) ?? '';
}
