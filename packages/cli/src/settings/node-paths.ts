import { join } from 'node:path';

export const DEFAULT_FILE = '/etc/podwright/config.toml';
export const DEFAULT_ROOT = '/var/lib/podwright';
export const DEFAULT_STATE = '/run/podwright';
/** Where kubelets have the logs of containers. */
export const DEFAULT_POD_LOGS = '/var/log/pods';

/** Where a node is: what its clients need of its settings. All paths are absolute. */
export type NodePaths = {
  root: string;
  state: string;
  /** Sockets of this node: the local API and the CRI. */
  apiSocket: string;
  criSocket: string;
};

export function nodePaths({ root, state }: { root: string; state: string }): NodePaths {
  return { root, state, apiSocket: join(state, 'node.sock'), criSocket: join(state, 'cri.sock') };
}
