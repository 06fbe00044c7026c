import { NetlinkSockets } from '@podwright/system';
import type { ProxyOptions, RunningProxy } from './proxy.ts';
import { ServiceProxy } from './service-proxy.ts';

/**
 * Starts a proxy, which makes an API server's Services reachable on this node like kube-proxy, using rules in one nf_tables table. Requires
 * `CAP_NET_ADMIN` and enabled packet forwarding.
 */
export function startProxy(options: ProxyOptions): RunningProxy {
  const proxy = new ServiceProxy({ ...options, sockets: options.sockets ?? new NetlinkSockets() });
  proxy.start();
  return proxy;
}
