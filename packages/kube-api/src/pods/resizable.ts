/** Which changes of a pod are a resize: changes of CPU and memory, without a restart. Pure. */

import type { Pod, ResourceList, ResourceRequirements } from '../objects/types.ts';
import { qosClass } from './qos-class.ts';

/**
 * Everything that a resize does not change: all except CPU and memory of containers and pod, and the QoS class
 * (validation.ValidatePodResize). If it is equal for two pods, they differ at most by a resize.
 */
export function unresizable(pod: Pod): unknown {
  const { initContainers, containers, resources, ...rest } = pod.spec;
  const spec = {
    ...rest,
    ...withoutAmounts({ resources }),
    containers: containers.map((one) => withoutAmounts(one)),
    ...(initContainers !== undefined && { initContainers: initContainers.map((one) => withoutAmounts(one)) }),
  };
  return { ...pod, spec, class: qosClass(pod) };
}

function withoutAmounts<T extends { resources?: ResourceRequirements }>(owner: T): T | Omit<T, 'resources'> {
  const { resources = {}, ...rest } = owner;
  const { limits, requests, ...others } = resources;
  const lists = Object.entries({ limits, requests }).flatMap(([kind, list]) => {
    const fixed = unchangeable(list);
    return fixed === undefined ? [] : [[kind, fixed] as const];
  });
  const fixed = { ...others, ...Object.fromEntries(lists) };
  return Object.keys(fixed).length === 0 ? rest : { ...rest, resources: fixed };
}

/** Amounts of resources that cannot be resized, if any. */
function unchangeable(list: ResourceList = {}): ResourceList | undefined {
  const { cpu: _cpu, memory: _memory, ...others } = list;
  return Object.keys(others).length === 0 ? undefined : others;
}
