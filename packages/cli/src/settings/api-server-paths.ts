import { join } from 'node:path';
import type { NodePaths } from './node-paths.ts';

/** The API server's paths on this node. All are absolute. */
export const apiServerPaths = ({ root, state }: Pick<NodePaths, 'root' | 'state'>) => ({
  directory: join(root, 'api-server'),
  /** Marker file that exists if the node stores its objects in its Kubernetes API. */
  ofNode: join(root, 'api-server', 'of-node'),
  socketPath: join(state, 'apiserver.sock'),
  /** The administrator's kubeconfig, which the server writes and renews if it listens over TLS. */
  kubeconfig: join(state, 'admin.kubeconfig'),
});
