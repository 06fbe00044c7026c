/** Which changes of a pod leave it the same pod: those of CPU and memory that are made while it runs. Pure. */

import type { Pod, ResourceList, ResourceRequirements } from '../objects/types.ts';
import { qosClass } from './qos-class.ts';

/**
 * What a resize leaves as it is: everything but CPU and memory of the containers and of the pod as a whole, and the class of service
 * (validation.ValidatePodResize). Two pods of which this is the same differ at most by a resize.
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
    const kept = unchangeable(list);
    return kept === undefined ? [] : [[kind, kept] as const];
  });
  const kept = { ...others, ...Object.fromEntries(lists) };
  return Object.keys(kept).length === 0 ? rest : { ...rest, resources: kept };
}

/** Amounts of what cannot be changed in place, if there are any. */
function unchangeable(list: ResourceList = {}): ResourceList | undefined {
  const { cpu: _cpu, memory: _memory, ...others } = list;
  return Object.keys(others).length === 0 ? undefined : others;
}
