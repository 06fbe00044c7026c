import { join } from 'node:path';

export const DEFAULT_FILE = '/etc/podwright/config.toml';
export const DEFAULT_ROOT = '/var/lib/podwright';
export const DEFAULT_STATE = '/run/podwright';
/** The container log directory, as in upstream's kubelet. */
export const DEFAULT_POD_LOGS = '/var/log/pods';

/** The node's paths needed by its clients. All are absolute. */
export type NodePaths = {
  root: string;
  state: string;
  /** The Unix socket of the node's API. */
  apiSocket: string;
  criSocket: string;
};

export function nodePaths({ root, state }: { root: string; state: string }): NodePaths {
  return { root, state, apiSocket: join(state, 'node.sock'), criSocket: join(state, 'cri.sock') };
}
