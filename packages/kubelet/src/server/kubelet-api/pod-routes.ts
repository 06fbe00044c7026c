import type { Pod } from '../../api/types.ts';
import type { RuntimePodStatus } from '../../kubecontainer/runtime-pod.ts';
import type { Kubelet } from '../../kubelet.ts';
import { sendJson } from '../api-call.ts';
import type { ApiRoute } from './api-route.ts';

/** `/pods`: the pods of the sources with their statuses. `/runningpods/`: what the runtime has. */
export function podRoutes(kubelet: Kubelet): ApiRoute[] {
  const list = (items: object[]) => ({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });
  return [
    {
      methods: ['GET'],
      path: '/pods',
      access: 'open',
      handler: ({ response }) => sendJson(response, list(kubelet.pods().map(listedPod))),
    },
    {
      methods: ['GET'],
      path: '/runningpods',
      access: 'debug',
      handler: ({ response }) => sendJson(response, list(kubelet.runtimePods().flatMap(runningPod))),
    },
  ];
}

/** The members of a list say nothing of their kind, as upstream's. */
function listedPod({ metadata, spec, status }: Pod): object {
  return { metadata, spec, status: status ?? {} };
}

/** A pod of which something runs, as far as the runtime knows it. */
function runningPod({ pod, sandboxes, containers }: RuntimePodStatus): object[] {
  const running = containers.filter(({ state }) => state === 'running');
  if (running.length === 0 && !sandboxes.some(({ ready }) => ready)) return [];
  const { name, namespace, uid } = pod;
  const shown = running
    .toReversed()
    .map((container) => ({ name: container.name, image: container.image, resources: {} }));
  return [{ metadata: { name, namespace, uid }, spec: { containers: shown }, status: {} }];
}
