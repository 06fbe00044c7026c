import { invalid, NamespaceMode, type NamespaceOption } from '@podwright/cri';
import type { HostConfig } from '../engine/engine-types.ts';

/**
 * The namespaces of a container in a sandbox, which holds the pod's network, IPC and, if they are shared, processes. A host's network
 * brings the host's name along: Docker gives a container that joins another's network that one's name, and not the host's.
 */
export function namespaceModes(
  options: NamespaceOption | undefined,
  sandboxId: string,
): Pick<HostConfig, 'NetworkMode' | 'IpcMode' | 'PidMode' | 'UTSMode'> {
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

/** Whether a user namespace of the pod's own is asked for, which the Engine has for all containers or for none. */
export function wantsOwnUsers(options: NamespaceOption | undefined): boolean {
  return options?.usernsOptions !== undefined && options.usernsOptions.mode !== NamespaceMode.NODE;
}
