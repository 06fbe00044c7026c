import {
  ANY_ADDRESS,
  type EventRecorder,
  eventSubject,
  type HostPort,
  hostPorts,
  type Pod,
  portsConflict,
  portText,
} from '@podwright/kube-api';
import { hostListeners, socketOwner } from '../node/host-listeners.ts';

/** A host port of the pod that a host process is already listening on. `message` names the process. */
export type ForeignPort = Pick<HostPort, 'path'> & { message: string };

/** Finds the pod's host ports that host processes are already listening on, ignoring processes of the pods in `ownUids`. */
export async function foreignPorts(pod: Pod, ownUids: readonly string[]): Promise<ForeignPort[]> {
  // treat `::` as all IPv4 and IPv6 addresses: a wrong match only causes an unnecessary warning
  const wanted = hostPorts(pod).map((port) => (port.ip === '::' ? { ...port, ip: ANY_ADDRESS } : port));
  if (wanted.length === 0) return [];
  const listeners = await hostListeners();
  const found = wanted.map(async (port): Promise<ForeignPort[]> => {
    for (const listener of listeners.filter((one) => portsConflict(port, one))) {
      const owner = await socketOwner(listener.inode);
      // systemd's cgroup names contain underscores in place of the dashes in the UID
      if (owner !== undefined && ownUids.some((uid) => owner.cgroup.replaceAll('_', '-').includes(uid))) continue;
      const by = owner === undefined ? 'a program of the host' : `${owner.name} (process ${owner.pid})`;
      const message = `port ${portText(listener)} of the host is taken by ${by}, which may receive the pod's traffic`;
      return [{ path: port.path, message }];
    }
    return [];
  });
  return (await Promise.all(found)).flat();
}

/**
 * Emits a HostPortTaken event for each of the pod's host ports that another process is listening on. Upstream has no such event, but
 * without it, users cannot see which process responds.
 */
export async function warnOfForeignPorts(pod: Pod, events: EventRecorder): Promise<void> {
  for (const { message } of await foreignPorts(pod, [pod.metadata.uid]))
    events.event(eventSubject(pod), 'Warning', 'HostPortTaken', message);
}
