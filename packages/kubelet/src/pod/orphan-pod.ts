import type { Pod } from '../api/types.ts';
import type { RuntimePodStatus } from '../kuberuntime/runtime-pod.ts';

/** A pod that only the runtime knows, as far as it can be told: enough to stop and remove it. */
export function orphanPod({ pod, sandboxes, containers }: RuntimePodStatus): Pod {
  const names = [...new Set(containers.map(({ name }) => name))];
  const images = new Map(containers.map(({ name, image }) => [name, image]));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...pod },
    spec: {
      restartPolicy: 'Never',
      hostNetwork: sandboxes[0]?.hostNetwork === true,
      containers: names.map((name) => ({ name, image: images.get(name) ?? '' })),
    },
  };
}
