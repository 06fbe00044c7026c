import type { Logger } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import type { NetlinkSockets } from '@podwright/system';

export type ProxyOptions = {
  client: KubeClient;
  /** The name of this node's Node object. Endpoints with this node name are local. */
  nodeName: string;
  logger: Logger;
  /** Stops the proxy, as `stop` does. */
  signal?: AbortSignal;
  /** Default: new ones. The rules apply to the network namespace in which the proxy is started. */
  sockets?: NetlinkSockets;
  /** The addresses of pods, as CIDR blocks. Default: those in the Node object. */
  podCidrs?: string[];
  /**
   * Subnets whose pods are on one bridge. While the kernel does not pass bridged packets to the packet filter of the host, connections
   * within such a subnet through a Service are masqueraded. Default: none.
   */
  bridgedCidrs?: string[];
  /**
   * The bridge of `bridgedCidrs`. If `br_netfilter` is loaded, the proxy makes the kernel pass the packets of the bridge to the packet
   * filter, and the connections keep the addresses of their clients. Default: unknown, so connections are masqueraded.
   */
  bridge?: string;
  /**
   * The node's addresses at which node ports are reachable: the first internal address of each IP family in the Node object (default), or
   * all addresses of interfaces in these CIDR blocks. Never a loopback address.
   */
  nodePortAddresses?: 'primary' | string[];
  /**
   * The ranges of cluster IPs. If they are given, external and load balancer addresses of Services are not served if they are in these
   * ranges, belong to pods or to the node, or are loopback, link-local or multicast addresses: a user who may create Services could
   * otherwise receive the connections to another Service, to the DNS server or to the node. Default: all addresses are served, as by
   * kube-proxy.
   */
  serviceCidrs?: string[];
  /** Masquerades every connection to a cluster IP. Default: only those from outside `podCidrs`. */
  masqueradeAll?: boolean;
  /** The name of the nf_tables table of family `inet`. Default: `podwright-services`. */
  table?: string;
  /** Interval of the check that another program has not changed the table. Default: 5000. */
  checkIntervalMs?: number;
};

export type NetworkPolicyOptions = Pick<
  ProxyOptions,
  'client' | 'nodeName' | 'logger' | 'signal' | 'sockets' | 'checkIntervalMs'
> & {
  /** The bridge of this node's pods. Its packets are passed to the packet filter of the host as soon as a policy isolates a pod. */
  bridge?: string;
  /** The name of the nf_tables table of family `inet`. Default: `podwright-policies`. */
  table?: string;
};

/** What keeps rules in the kernel in line with the objects of an API server. */
export interface RunningProxy {
  /** Resolves once the rules of all objects that existed at the start are in force. Rejects if it is stopped before that. */
  readonly synced: Promise<void>;
  /** Returns why the current rules are not in force; `undefined` while they are. */
  problem(): string | undefined;
  /** Ends the updates. Connections and rules stay, as with kube-proxy; `removeRules` removes the table. */
  stop(options?: { removeRules?: boolean }): Promise<void>;
}
