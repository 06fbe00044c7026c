import type { Logger } from '@podwright/base';
import type { KubeClient } from '@podwright/kube-client';
import type { NetlinkSockets } from '@podwright/system';

export type ProxyOptions = {
  client: KubeClient;
  /** Name of this node's Node object. Endpoints with this node name are local. */
  nodeName: string;
  logger: Logger;
  /** Stops the proxy when it aborts, as `stop` does. */
  signal?: AbortSignal;
  /**
   * The netlink sockets to use. Default: opens new ones. Rules apply to the network namespace in which the sockets are opened, that is, in
   * which the proxy is started.
   */
  sockets?: NetlinkSockets;
  /** Pod addresses, as CIDR blocks. Default: those in the Node object. */
  podCidrs?: string[];
  /**
   * Subnets whose pods are on one bridge. As long as the kernel does not pass bridged packets to the host's packet filter, connections
   * within such a subnet through a Service are masqueraded. Default: none.
   */
  bridgedCidrs?: string[];
  /**
   * The bridge of `bridgedCidrs`. If `br_netfilter` is loaded, the proxy makes the kernel pass the bridge's packets to the packet filter,
   * so that connections keep their client addresses. Default: unknown; connections are masqueraded.
   */
  bridge?: string;
  /**
   * The node's addresses at which node ports are served: the first address of each IP family in the Node object, preferring internal ones
   * (default), or all interface addresses in these CIDR blocks. Never a loopback address.
   */
  nodePortAddresses?: 'primary' | string[];
  /**
   * The cluster IP ranges. If set, external and load balancer addresses of Services are not served if they are in these ranges, belong to
   * pods or the node, or are loopback, link-local or multicast addresses: otherwise, a user who may create Services could intercept
   * connections to another Service, the DNS server or the node. Default: all addresses are served, as by kube-proxy.
   */
  serviceCidrs?: string[];
  /** Whether to masquerade every connection to a cluster IP. Default: only those from outside `podCidrs`. */
  masqueradeAll?: boolean;
  /** Name of the nf_tables table (family `inet`). Default: `podwright-services`. */
  table?: string;
  /** How often to check whether another program has changed the table, in ms. Default: 5000. */
  checkIntervalMs?: number;
};

export type NetworkPolicyOptions = Pick<
  ProxyOptions,
  'client' | 'nodeName' | 'logger' | 'signal' | 'sockets' | 'checkIntervalMs'
> & {
  /** The bridge of this node's pods. Its packets are passed to the host's packet filter once a policy isolates a pod. */
  bridge?: string;
  /** Name of the nf_tables table (family `inet`). Default: `podwright-policies`. */
  table?: string;
};

/** Keeps rules in the kernel in sync with an API server's objects. */
export interface RunningProxy {
  /** Resolves once the rules for all objects that existed at the start are in effect. Rejects if stopped before that. */
  readonly synced: Promise<void>;
  /** Returns why the current rules are not in effect; `undefined` if they are. */
  problem(): string | undefined;
  /** Stops updating. Connections and rules remain, as with kube-proxy; `removeRules` removes the table. */
  stop(options?: { removeRules?: boolean }): Promise<void>;
}
