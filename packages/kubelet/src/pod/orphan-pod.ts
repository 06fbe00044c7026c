import type { Container, Pod } from '@podwright/kube-api';
import type { ListedContainer, RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * Builds the Pod object for a pod that exists only in the container runtime, from container labels and annotations. It contains enough to
 * stop the containers in order and to remove the pod.
 */
export function orphanPod({ pod, sandboxes, containers }: RuntimePodStatus): Pod {
  const newest = [...Map.groupBy(containers, ({ name }) => name).values()].map(([first]) => first!);
  const inits = listedIn(newest, 'initContainers');
  const ephemeral = listedIn(newest, 'ephemeralContainers');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid: pod.uid, namespace: pod.namespace, name: pod.name },
    spec: {
      restartPolicy: 'Never',
      hostNetwork: sandboxes[0]?.hostNetwork === true,
      terminationGracePeriodSeconds: containers[0]?.terminationGracePeriodSeconds,
      ...(inits.length === 0 ? {} : { initContainers: inits }),
      containers: newest.filter(({ listed }) => listed === undefined).map(containerOf),
      ...(ephemeral.length === 0 ? {} : { ephemeralContainers: ephemeral }),
    },
  };
}

/** Returns the runtime's containers that are in one of the spec's container lists, in the order of that list. */
function listedIn(containers: RuntimeContainer[], list: ListedContainer['list']): Container[] {
  return containers
    .filter(({ listed }) => listed?.list === list)
    .toSorted((a, b) => a.listed!.position - b.listed!.position)
    .map(containerOf);
}

function containerOf({ name, image, preStop, listed }: RuntimeContainer): Container {
  return {
    name,
    image,
    ...(preStop === undefined ? {} : { lifecycle: { preStop } }),
    ...(listed?.restartPolicy === undefined ? {} : { restartPolicy: listed.restartPolicy }),
  };
}
