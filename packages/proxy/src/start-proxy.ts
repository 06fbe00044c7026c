import { NetlinkSockets } from '@podwright/system';
import type { ProxyOptions, RunningProxy } from './proxy.ts';
import { ServiceProxy } from './service-proxy.ts';

/**
 * Starts a proxy: it makes the Services of an API server reachable on this node, as kube-proxy does, by rules in one nf_tables table. Requires
 * `CAP_NET_ADMIN`, and forwarding of packets to be enabled.
 */
export function startProxy(options: ProxyOptions): RunningProxy {
  const proxy = new ServiceProxy({ ...options, sockets: options.sockets ?? new NetlinkSockets() });
  proxy.start();
  return proxy;
}
