import { invalid, NamespaceMode, type NamespaceOption } from '@podwright/cri';
import type { HostConfig } from '../engine/engine-types.ts';

/**
 * Returns the namespace modes of a container: it joins the sandbox's network and IPC namespaces and, if the pod shares it, its PID
 * namespace. On the host network, it also uses the host's UTS namespace, because Docker would otherwise use the sandbox's host name.
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

/** Whether the pod requests its own user namespace. The Engine can only map users for all containers or for none. */
export function wantsOwnUsers(options: NamespaceOption | undefined): boolean {
  return options?.usernsOptions !== undefined && options.usernsOptions.mode !== NamespaceMode.NODE;
}
