import type { Pod } from '@podwright/kube-api';
import type { Kubelet, RuntimePodStatus } from '@podwright/kubelet';
import type { ApiRoute } from './api-route.ts';
import { sendJson, sendJsonText } from './http/api-call.ts';
import { MAX_CACHED_POD_LENGTH } from './limits.ts';

/**
 * `/pods` returns the pods from the configuration sources, with their statuses. `/runningpods/` returns the pods that are running according
 * to the container runtime.
 */
export function podRoutes(kubelet: Kubelet): ApiRoute[] {
  const list = (items: object[]) => ({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });
  const texts = new PodTexts();
  return [
    {
      methods: ['GET'],
      path: '/pods',
      access: 'open',
      handler: ({ response }) => sendJsonText(response, texts.listOf(kubelet.pods())),
    },
    {
      methods: ['GET'],
      path: '/runningpods',
      access: 'debug',
      handler: ({ response }) => sendJson(response, list(kubelet.runtimePods().flatMap(runningPod))),
    },
  ];
}

/** Caches pods as JSON. Pods are immutable, so the cache needs no invalidation: a changed pod is a new object. */
class PodTexts {
  readonly #texts = new WeakMap<Pod, string>();

  listOf(pods: Pod[]): string {
    return `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[${pods.map((pod) => this.#textOf(pod)).join(',')}]}`;
  }

  #textOf(pod: Pod): string {
    const known = this.#texts.get(pod);
    if (known !== undefined) return known;
    const text = JSON.stringify(listedPod(pod));
    if (text.length <= MAX_CACHED_POD_LENGTH) this.#texts.set(pod, text);
    return text;
  }
}

/** Returns a pod as a list item. As in upstream, apiVersion and kind are omitted. */
function listedPod({ metadata, spec, status }: Pod): object {
  return { metadata, spec, status: status ?? {} };
}

/** Returns the pod as seen by the container runtime, or an empty list if it has neither a running container nor a ready sandbox. */
function runningPod({ pod, sandboxes, containers }: RuntimePodStatus): object[] {
  const running = containers.filter(({ state }) => state === 'running');
  if (running.length === 0 && !sandboxes.some(({ ready }) => ready)) return [];
  const { name, namespace, uid } = pod;
  const shown = running
    .toReversed()
    .map((container) => ({ name: container.name, image: container.image, resources: {} }));
  return [{ metadata: { name, namespace, uid }, spec: { containers: shown }, status: {} }];
}
