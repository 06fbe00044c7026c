import { badRequest, notFound, type ObjectStore } from '@podwright/api-machinery';
import { objectsAt, textAt } from '@podwright/kube-kinds';
import type { Backend } from '../backends/backend.ts';
import { networkBackend } from '../backends/network-backend.ts';
import { isProxyable } from '../backends/proxyable-address.ts';
import { type ProxyTarget, portNumber } from './proxy-target.ts';

/**
 * Returns a server in a pod. The port defaults to the first one declared by a container. The pod's IP is from its status, which nodes can
 * write, so it must not be an address of this host or its link-local network.
 */
export function podBackend(store: ObjectStore, namespace: string, { scheme, name, port }: ProxyTarget): Backend {
  const pod = store.get({ resource: 'pods', namespace, name })?.decode();
  if (pod === undefined) throw notFound({ group: '', plural: 'pods' }, name);
  const [declared] = objectsAt(pod, 'spec', 'containers').flatMap((container) => objectsAt(container, 'ports'));
  const address = textAt(objectsAt(pod, 'status', 'podIPs')[0], 'ip');
  if (!isProxyable(address)) throw badRequest('address not allowed');
  const chosen = port || String(declared?.containerPort ?? '');
  return networkBackend({ scheme: scheme || 'http', host: address, port: portNumber({ scheme, port: chosen }) });
}
