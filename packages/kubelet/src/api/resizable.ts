/** Which changes of a pod leave it the same pod: those of CPU and memory that are made while it runs. Pure. */
import { compareQuantities } from './quantity.ts';
import type { Container, Pod, ResourceList } from './types.ts';

const RESIZABLE = ['cpu', 'memory'] as const;

/**
 * The pod without the amounts of CPU and memory that can be changed in place. Two pods of which this is the same differ at most by a
 * resize: neither adds or removes a request or limit, nor changes the class of service (validation.ValidatePodResize).
 */
export function withoutAmounts(pod: Pod): Pod {
  const { initContainers, containers } = pod.spec;
  const spec = { ...pod.spec, containers: containers.map(blank) };
  return { ...pod, spec: initContainers === undefined ? spec : { ...spec, initContainers: initContainers.map(blank) } };
}

function blank(container: Container): Container {
  const { limits, requests } = container.resources ?? {};
  if (limits === undefined && requests === undefined) return container;
  return {
    ...container,
    resources: {
      ...container.resources,
      ...(limits === undefined ? {} : { limits: mark(limits, {}) }),
      ...(requests === undefined ? {} : { requests: mark(requests, limits ?? {}) }),
    },
  };
}

/** Of each amount only what the class of service depends on is left. */
function mark(list: ResourceList, limits: ResourceList): ResourceList {
  const marked = { ...list };
  for (const name of RESIZABLE) {
    const text = list[name];
    if (text === undefined) continue;
    const limit = limits[name];
    if (compareQuantities(text, '0') === 0) marked[name] = 'zero';
    else marked[name] = limit !== undefined && compareQuantities(text, limit) === 0 ? 'limit' : 'some';
  }
  return marked;
}
