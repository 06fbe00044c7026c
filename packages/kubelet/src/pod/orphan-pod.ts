import type { Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/** Builds the Pod object of a pod that only the runtime has, from container labels and annotations: enough to stop and remove it. */
export function orphanPod({ pod, sandboxes, containers }: RuntimePodStatus): Pod {
  const byName = Map.groupBy(containers, ({ name }) => name);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { uid: pod.uid, namespace: pod.namespace, name: pod.name },
    spec: {
      restartPolicy: 'Never',
      hostNetwork: sandboxes[0]?.hostNetwork === true,
      terminationGracePeriodSeconds: containers[0]?.terminationGracePeriodSeconds,
      containers: [...byName.values()].map(([newest]) => {
        const { name, image, preStop } = newest!;
        return { name, image, ...(preStop === undefined ? {} : { lifecycle: { preStop } }) };
      }),
    },
  };
}
