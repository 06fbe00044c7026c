/** Plans changes to a running container's CPU and memory. Pure. */
import { type Container, type Pod, type PodSpec, type ResourceRequirements, withPodLimits } from '@podwright/kube-api';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { GivenResources, RuntimeContainer } from '../kubecontainer/runtime-pod.ts';

const RESOURCES = ['cpu', 'memory'] as const;
export type ResizedResource = (typeof RESOURCES)[number];

/** A container to resize in place; decreases are applied before increases. `resources` is empty if only pod-level resources change. */
export type ContainerToUpdate = {
  id: string;
  name: string;
  from: GivenResources;
  to: GivenResources;
  resources: { resource: ResizedResource; change: 'less' | 'more' }[];
};

export type ResizeDecision = { kind: 'none' } | { kind: 'restart' } | { kind: 'update'; update: ContainerToUpdate };

/** Compares the actual and desired resources of a running container and its pod, and decides how to apply the difference. */
export function decideResize(
  { spec }: Pick<Pod, 'spec'>,
  container: Container,
  { id, name, given }: Pick<RuntimeContainer, 'id' | 'name'> & { given: GivenResources | undefined },
): ResizeDecision {
  if (given === undefined) return { kind: 'none' }; // the container has no resources annotation
  const before = withPodLimits({ ...container, resources: given }, { ...spec, resources: given.pod });
  const after = withPodLimits(container, spec);
  const resources = RESOURCES.flatMap((resource) => {
    const limit = compare(amount(limitOf(before, resource)), amount(limitOf(after, resource)));
    const request = compare(requestOf({ resources: given }, resource), requestOf(container, resource));
    const change = limit ?? request;
    return change === undefined ? [] : [{ resource, change }];
  });
  if (resources.length === 0 && !differ({ resources: given.pod }, spec)) return { kind: 'none' };
  if (resources.some(({ resource }) => restartsFor(container, resource))) return { kind: 'restart' };
  const to: GivenResources = { ...container.resources, pod: spec.resources };
  return { kind: 'update', update: { id, name, from: given, to, resources } };
}

function restartsFor({ resizePolicy = [] }: Container, resource: ResizedResource): boolean {
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) => resourceName === resource && restartPolicy === 'RestartContainer',
  );
}

function differ(before: Pick<PodSpec, 'resources'>, after: Pick<PodSpec, 'resources'>): boolean {
  return RESOURCES.some(
    (resource) =>
      limitOf(before, resource) !== limitOf(after, resource) ||
      requestOf(before, resource) !== requestOf(after, resource),
  );
}

/** Maps "no limit" (0) to the maximum, so that limits can be compared. */
const amount = (limit: bigint) => (limit === 0n ? 2n ** 63n : limit);

function compare(before: bigint, after: bigint): 'less' | 'more' | undefined {
  if (before === after) return undefined;
  return after < before ? 'less' : 'more';
}

/** Returns the containers whose amount of the given resource changes, decreases first. */
export function updateOrder(updates: ContainerToUpdate[], resource: ResizedResource): ContainerToUpdate[] {
  const changing = (change: 'less' | 'more') =>
    updates.filter(({ resources }) => resources.some((one) => one.resource === resource && one.change === change));
  return [...changing('less').reverse(), ...changing('more')];
}

/** Returns a container's resources in the middle of a resize: `from`, with one resource replaced by its value in `to`. */
export function withResource(from: GivenResources, to: GivenResources, resource: ResizedResource): GivenResources {
  const mixed = replaceResource(from, to, resource);
  if (from.pod === undefined && to.pod === undefined) return mixed;
  return { ...mixed, pod: replaceResource(from.pod ?? {}, to.pod ?? {}, resource) };
}

function replaceResource(
  from: ResourceRequirements,
  to: ResourceRequirements,
  resource: ResizedResource,
): ResourceRequirements {
  const list = (part: 'limits' | 'requests') => {
    const { [resource]: _, ...others } = from[part] ?? {};
    const desired = to[part]?.[resource];
    const mixed = desired === undefined ? others : { ...others, [resource]: desired };
    return Object.keys(mixed).length === 0 ? {} : { [part]: mixed };
  };
  return { ...list('limits'), ...list('requests') };
}

/**
 * Returns the pod with the larger of the actual and the desired resources, both per container and at pod level. The pod's cgroup must allow
 * both during a resize.
 */
export function widestPod(pod: Pod, given: (containerName: string) => GivenResources | undefined): Pod {
  const { initContainers = [], containers, resources } = pod.spec;
  const widen = (container: Container): Container => {
    const before = given(container.name);
    return before === undefined ? container : { ...container, resources: larger(before, container.resources ?? {}) };
  };
  const podBefore = [...initContainers, ...containers].map(({ name }) => given(name)).find((one) => one !== undefined);
  const spec: PodSpec = { ...pod.spec, containers: containers.map(widen) };
  if (initContainers.length > 0) spec.initContainers = initContainers.map(widen);
  if (resources !== undefined && podBefore !== undefined) spec.resources = larger(podBefore.pod ?? {}, resources);
  return { ...pod, spec };
}

/** For each resource, returns the old request and limit if either was larger, otherwise the new ones. */
function larger(before: ResourceRequirements, after: ResourceRequirements): ResourceRequirements {
  return RESOURCES.reduce((result, resource) => {
    const [old, desired] = [{ resources: before }, { resources: after }];
    const isMore =
      amount(limitOf(old, resource)) > amount(limitOf(desired, resource)) ||
      requestOf(old, resource) > requestOf(desired, resource);
    return isMore ? replaceResource(result, before, resource) : result;
  }, after);
}
