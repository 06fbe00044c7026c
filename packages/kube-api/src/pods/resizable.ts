/** Distinguishes CPU and memory resizes from other changes to a pod. Pure. */

import type { Pod, ResourceList, ResourceRequirements } from '../objects/types.ts';
import { qosClass } from './qos-class.ts';

/**
 * Returns the parts of a pod that a resize must not change: everything but the CPU and memory of the containers and the pod, plus the QoS
 * class (validation.ValidatePodResize). If these parts are equal in two versions of a pod, the versions differ at most by a resize.
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

/** Returns the amounts of all resources other than CPU and memory; `undefined` if there are none. */
function unchangeable(list: ResourceList = {}): ResourceList | undefined {
  const { cpu: _cpu, memory: _memory, ...others } = list;
  return Object.keys(others).length === 0 ? undefined : others;
}
