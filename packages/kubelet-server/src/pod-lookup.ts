import { type Container, everyContainer, type Pod } from '@podwright/kube-api';
import type { Kubelet, RuntimeContainer } from '@podwright/kubelet';

/** Returns the pod's full name, `<name>_<namespace>` (GetPodFullName). */
export const fullName = ({ metadata }: Pod) => `${metadata.name}_${metadata.namespace}`;

export function containerOf({ spec }: Pod, name: string): Container | undefined {
  return everyContainer(spec).find((one) => one.name === name);
}

/** Returns the pod's running container with the given name. Returns `undefined` if there is none or if `uid` is not the pod's UID. */
export function runningContainer(
  kubelet: Kubelet,
  { metadata }: Pod,
  { uid, container }: { uid?: string; container: string },
): RuntimeContainer | undefined {
  if (uid !== undefined && uid !== '' && uid !== metadata.uid) return undefined;
  const status = kubelet.runtimePods().find(({ pod }) => pod.uid === metadata.uid);
  return status?.containers.find(({ name, state }) => name === container && state === 'running');
}
