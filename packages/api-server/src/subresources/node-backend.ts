import type { Backend } from '../backends/backend.ts';
import { networkBackend } from '../backends/network-backend.ts';
import type { NodeConnector } from '../backends/node-connector.ts';
import { proxyableAddress } from '../backends/proxyable-address.ts';
import { type ProxyTarget, portNumber } from './proxy-target.ts';

/**
 * Returns a node's kubelet, or a server on another port of the node. Only the kubelet receives this server's client certificate. The
 * address is published by the node itself, so it must not be loopback or link-local.
 */
export async function nodeBackend(connector: NodeConnector, { scheme, name, port }: ProxyTarget): Promise<Backend> {
  const kubelet = connector.kubelet(name);
  const isKubelet = port === '' || port === String(kubelet.port);
  if (isKubelet && kubelet.isLocal) return kubelet.backend();
  const address = await proxyableAddress(kubelet.host);
  if (isKubelet) return kubelet.backend({ address });
  return networkBackend({ scheme: scheme || 'http', host: kubelet.host, address, port: portNumber({ scheme, port }) });
}
