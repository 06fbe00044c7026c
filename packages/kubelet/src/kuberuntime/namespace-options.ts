import {
  create,
  IDMappingSchema,
  NamespaceMode,
  type NamespaceOption,
  NamespaceOptionSchema,
  UserNamespaceSchema,
} from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import type { IdRange } from '../container/user-namespaces.ts';

/**
 * Returns the namespaces that the pod shares with the host or among its containers. `users`: the ID range of the pod's own user namespace.
 */
export function namespaceOptions(pod: Pod, users: IdRange | undefined): NamespaceOption {
  const { hostNetwork, hostIPC, hostPID, shareProcessNamespace } = pod.spec;
  const pid = shareProcessNamespace ? NamespaceMode.POD : NamespaceMode.CONTAINER;
  return create(NamespaceOptionSchema, {
    network: hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: hostPID ? NamespaceMode.NODE : pid,
    usernsOptions: userNamespace(users),
  });
}

function userNamespace(users: IdRange | undefined) {
  if (users === undefined) return create(UserNamespaceSchema, { mode: NamespaceMode.NODE });
  const mapping = create(IDMappingSchema, { hostId: users.firstId, containerId: 0, length: users.length });
  return create(UserNamespaceSchema, { mode: NamespaceMode.POD, uids: [mapping], gids: [mapping] });
}

/**
 * Returns a container's namespaces based on its pod's. A container with a target joins the target's PID namespace, unless the pod uses a
 * shared PID namespace or the host's.
 */
export function containerNamespaces(pod: NamespaceOption, targetId: string | undefined): NamespaceOption {
  if (targetId === undefined || pod.pid !== NamespaceMode.CONTAINER) return pod;
  return { ...pod, pid: NamespaceMode.TARGET, targetId };
}
