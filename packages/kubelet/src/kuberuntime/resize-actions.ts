/** What a change of a running container's CPU and memory takes. Pure. */
import type { Container, Pod, ResourceRequirements } from '../api/types.ts';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';

const RESOURCES = ['cpu', 'memory'] as const;
export type ResizedResource = (typeof RESOURCES)[number];

/** A container that gets other resources while it runs: less of one before others get more. */
export type ContainerToUpdate = {
  id: string;
  name: string;
  from: ResourceRequirements;
  to: ResourceRequirements;
  resources: { resource: ResizedResource; change: 'less' | 'more' }[];
};

export type ResizeDecision = { kind: 'none' } | { kind: 'restart' } | { kind: 'update'; update: ContainerToUpdate };

/** Compares what a running container was given with what it is to have. */
export function decideResize(
  container: Container,
  current: RuntimeContainer,
  given: ResourceRequirements | undefined,
): ResizeDecision {
  if (given === undefined) return { kind: 'none' }; // made by a kubelet that noted nothing
  const before: Container = { ...container, resources: given };
  const resources = RESOURCES.flatMap((resource) => {
    const limit = compare(amount(limitOf(before, resource)), amount(limitOf(container, resource)));
    const request = compare(requestOf(before, resource), requestOf(container, resource));
    const change = limit ?? request;
    return change === undefined ? [] : [{ resource, change }];
  });
  if (resources.length === 0) return { kind: 'none' };
  if (resources.some(({ resource }) => restartsFor(container, resource))) return { kind: 'restart' };
  const to = container.resources ?? {};
  return { kind: 'update', update: { id: current.id, name: current.name, from: given, to, resources } };
}

function restartsFor({ resizePolicy = [] }: Container, resource: ResizedResource): boolean {
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === 'RestartContainer',
  );
}

/** No limit is the largest. */
const amount = (limit: bigint) => (limit === 0n ? 2n ** 63n : limit);

function compare(before: bigint, after: bigint): 'less' | 'more' | undefined {
  if (before === after) return undefined;
  return after < before ? 'less' : 'more';
}

/** The containers that get another amount of a resource, those that get less first. */
export function updateOrder(updates: ContainerToUpdate[], resource: ResizedResource): ContainerToUpdate[] {
  const wanting = (change: 'less' | 'more') =>
    updates.filter(({ resources }) => resources.some((one) => one.resource === resource && one.change === change));
  return [...wanting('less').reverse(), ...wanting('more')];
}

/** Resources of a container while it is resized: the given amounts with one resource as it is to be. */
export function withResource(
  from: ResourceRequirements,
  to: ResourceRequirements,
  resource: ResizedResource,
): ResourceRequirements {
  const list = (part: 'limits' | 'requests') => {
    const { [resource]: _, ...others } = from[part] ?? {};
    const wanted = to[part]?.[resource];
    return wanted === undefined ? others : { ...others, [resource]: wanted };
  };
  return { limits: list('limits'), requests: list('requests') };
}

/** The pod with the larger of what each container was given and is to have: its cgroup must hold both while it is resized. */
export function widestPod(pod: Pod, given: (containerName: string) => ResourceRequirements | undefined): Pod {
  const widen = (container: Container): Container => {
    const before = given(container.name);
    if (before === undefined) return container;
    const old: Container = { ...container, resources: before };
    let resources = container.resources ?? {};
    for (const resource of RESOURCES) {
      const grows = amount(limitOf(old, resource)) > amount(limitOf(container, resource));
      const asksMore = requestOf(old, resource) > requestOf(container, resource);
      if (grows || asksMore) resources = withResource(resources, before, resource);
    }
    return { ...container, resources };
  };
  const { initContainers, containers } = pod.spec;
  const spec = { ...pod.spec, containers: containers.map(widen) };
  return { ...pod, spec: initContainers === undefined ? spec : { ...spec, initContainers: initContainers.map(widen) } };
}
