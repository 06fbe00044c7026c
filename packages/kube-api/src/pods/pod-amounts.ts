/** Computes the resource amounts of containers and pods (pod-level resources, KEP-2837), in nano-units. */
import { type Container, isSidecar, type ResourceRequirements } from '../objects/container.ts';
import type { PodSpec } from '../objects/pod.ts';
import { parseQuantity } from '../values/quantity.ts';

export type AmountKind = 'requests' | 'limits';
type Containers = Pick<PodSpec, 'containers' | 'initContainers'>;

/** Whether this is a huge page resource, such as `hugepages-2Mi`. */
export const isHugePages = (name: string) => name.startsWith('hugepages-');

/** Whether the resource is supported at the pod level. */
export const isPodLevelResource = (name: string) => name === 'cpu' || name === 'memory' || isHugePages(name);

/** Returns the names of all resources specified by any container. */
export function containersAmountNames(spec: Containers, kind: AmountKind): string[] {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  return [...new Set(all.flatMap(({ resources }) => Object.keys(resources?.[kind] ?? {})))];
}

/** Returns a container's request or limit for a resource. A missing request defaults to the limit. */
export function containerAmount(container: Pick<Container, 'resources'>, kind: AmountKind, name: string): bigint {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const text = (kind === 'requests' ? ownAmount(requests, name) : undefined) ?? ownAmount(limits, name);
  return text === undefined ? 0n : parseQuantity(text).nanos;
}

/**
 * Returns the containers' total: the greater of the sum of all regular containers and sidecars, and the peak during initialization, i.e.
 * the largest sum of an init container and the sidecars started before it.
 */
export function containersAmount(spec: Containers, kind: AmountKind, name: string): bigint {
  let sidecars = 0n;
  let initPeak = 0n;
  for (const container of spec.initContainers ?? []) {
    const own = containerAmount(container, kind, name);
    if (isSidecar(container)) sidecars += own;
    initPeak = larger(initPeak, isSidecar(container) ? sidecars : sidecars + own);
  }
  const sum = spec.containers.reduce((total, container) => total + containerAmount(container, kind, name), sidecars);
  return larger(sum, initPeak);
}

/** Returns the pod-level request or limit for a resource; `undefined` if it is not set. */
export function podLevelAmount({ resources }: PodSpec, kind: AmountKind, name: string): bigint | undefined {
  const text = isPodLevelResource(name) ? ownAmount(resources?.[kind] ?? {}, name) : undefined;
  return text === undefined ? undefined : parseQuantity(text).nanos;
}

/** Whether the pod has any pod-level resources (IsPodLevelResourcesSet). */
export function hasPodLevelResources({ resources = {} }: PodSpec, kinds: AmountKind[] = ['requests', 'limits']) {
  return kinds.some((kind) => Object.keys(resources[kind] ?? {}).some(isPodLevelResource));
}

/** Returns the container with its effective CPU and memory limits: its own or, if it has none, the pod-level ones. */
export function withPodLimits(container: Container, spec: PodSpec): Container {
  const { resources = {} } = container;
  const missing = (['cpu', 'memory'] as const).flatMap((name) => {
    const text = ownAmount(spec.resources?.limits ?? {}, name);
    const isGiven = text !== undefined && parseQuantity(text).nanos > 0n;
    return isGiven && containerAmount(container, 'limits', name) === 0n ? [[name, text] as const] : [];
  });
  if (missing.length === 0) return container;
  return { ...container, resources: { ...resources, limits: { ...resources.limits, ...Object.fromEntries(missing) } } };
}

const larger = (a: bigint, b: bigint) => (a > b ? a : b);

function ownAmount(list: NonNullable<ResourceRequirements[AmountKind]>, name: string): string | undefined {
  return Object.hasOwn(list, name) ? list[name] : undefined;
}

/** Serializes resources for comparison. Equal resources have the same key, regardless of order and notation. */
export function resourcesKey({ limits, requests, claims = [] }: ResourceRequirements = {}): string {
  const amounts = (list: Record<string, string> = {}) =>
    Object.entries(list)
      .map(([name, quantity]) => `${name}=${parseQuantity(quantity).nanos}`)
      .sort();
  return JSON.stringify([amounts(limits), amounts(requests), claims]);
}
