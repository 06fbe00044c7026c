import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import { hostListeners, socketOwner } from '../node/host-listeners.ts';
import { ANY, conflicts, type HostPort, hostPorts, portText } from './host-ports.ts';

/** A port that the pod asks for, and the sentence that says which program of the host has it. */
export type ForeignPort = Pick<HostPort, 'path'> & { message: string };

/** The ports of the host that a pod asks for and a program has that is of none of the pods `ownUids`. */
export async function foreignPorts(pod: Pod, ownUids: readonly string[]): Promise<ForeignPort[]> {
  // a warning only: a listener on any address may get what is meant for `::`
  const wanted = hostPorts(pod).map((port) => (port.ip === '::' ? { ...port, ip: ANY } : port));
  if (wanted.length === 0) return [];
  const listeners = await hostListeners();
  const found = wanted.map(async (port): Promise<ForeignPort[]> => {
    for (const listener of listeners.filter((one) => conflicts(port, one))) {
      const owner = await socketOwner(listener.inode);
      // systemd writes the UID of a pod's cgroup with underscores
      if (owner !== undefined && ownUids.some((uid) => owner.cgroup.replaceAll('_', '-').includes(uid))) continue;
      const by = owner === undefined ? 'a program of the host' : `${owner.name} (process ${owner.pid})`;
      const message = `port ${portText(listener)} of the host is taken by ${by}, which may get what is meant for the pod`;
      return [{ path: port.path, message }];
    }
    return [];
  });
  return (await Promise.all(found)).flat();
}

/** Upstream says nothing of them: people then wonder who answers. */
export async function warnOfForeignPorts(pod: Pod, events: EventRecorder): Promise<void> {
  for (const { message } of await foreignPorts(pod, [pod.metadata.uid]))
    events.event(eventSubject(pod), 'Warning', 'HostPortTaken', message);
}
