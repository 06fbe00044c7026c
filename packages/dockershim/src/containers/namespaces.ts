import { invalid, NamespaceMode, type NamespaceOption } from '@podwright/cri';
import type { HostConfig } from '../engine/engine-types.ts';
import { unsupported } from './unsupported.ts';

/**
 * The namespaces of a container in a sandbox, which holds the pod's network, IPC and, if they are shared, processes. A host's network
 * brings the host's name along: Docker gives a container that joins another's network that one's name, and not the host's.
 */
export function namespaceModes(
  options: NamespaceOption | undefined,
  sandboxId: string,
): Pick<HostConfig, 'NetworkMode' | 'IpcMode' | 'PidMode' | 'UTSMode'> {
  checkUsers(options);
  const sandbox = `container:${sandboxId}`;
  const isHostNetwork = options?.network === NamespaceMode.NODE;
  return {
    NetworkMode: sandbox,
    IpcMode: sandbox,
    PidMode: pidMode(options, sandbox),
    ...(isHostNetwork && { UTSMode: 'host' }),
  };
}

function pidMode(options: NamespaceOption | undefined, sandbox: string): string {
  switch (options?.pid ?? NamespaceMode.POD) {
    case NamespaceMode.POD:
      return sandbox;
    case NamespaceMode.CONTAINER:
      return '';
    case NamespaceMode.NODE:
      return 'host';
    case NamespaceMode.TARGET:
      if (options?.targetId) return `container:${options.targetId}`;
      throw invalid('namespaceOptions.targetId is empty, and pid is TARGET');
    default:
      throw invalid(`namespaceOptions.pid ${options?.pid} is unknown`);
  }
}

/** The Engine maps users for all containers alike (`userns-remap`), or for none. */
function checkUsers(options: NamespaceOption | undefined): void {
  const mode = options?.usernsOptions?.mode ?? NamespaceMode.NODE;
  if (mode === NamespaceMode.NODE) return;
  throw unsupported('a user namespace of a pod (hostUsers: false)');
}
