import { background, errorMessage } from '@podwright/base';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { type Informer, NAMESPACES, PODS, startInformer } from '@podwright/kube-client';
import { NetlinkSockets } from '@podwright/system';
import { canFilterBridges, filterBridge } from './kernel/bridge-filter.ts';
import { NETWORK_POLICIES, type NetworkPolicy } from './policies/objects.ts';
import { PolicyModel } from './policies/policy-model.ts';
import { policyFrame } from './policies/policy-rules.ts';
import type { NetworkPolicyOptions, RunningProxy } from './proxy.ts';
import { RuleLoop } from './rule-loop.ts';

/**
 * Enforces an API server's NetworkPolicies on the pods of this node, using rules in one nf_tables table. Connections established before a
 * policy is created are not interrupted. Requires `CAP_NET_ADMIN`.
 */
export function startNetworkPolicies(options: NetworkPolicyOptions): RunningProxy {
  const enforcer = new PolicyEnforcer({ ...options, sockets: options.sockets ?? new NetlinkSockets() });
  enforcer.start();
  return enforcer;
}

class PolicyEnforcer implements RunningProxy {
  readonly #options: NetworkPolicyOptions & { sockets: NetlinkSockets };
  readonly #model: PolicyModel;
  readonly #loop: RuleLoop;
  #informers: Informer<KubeObject>[] = [];
  #bridgeProblem: string | undefined;

  constructor(options: NetworkPolicyOptions & { sockets: NetlinkSockets }) {
    this.#options = options;
    const { nodeName, sockets, logger, table = 'podwright-policies', checkIntervalMs } = options;
    this.#model = new PolicyModel(nodeName, logger);
    this.#loop = new RuleLoop({
      ...{ table, socket: sockets.open('netfilter'), ledger: this.#model.ledger, logger, checkIntervalMs },
      refresh: () => this.#refresh(),
      frame: () => policyFrame(this.#model.isolates ? options.bridge : undefined),
      onApplied: () => this.#filterBridge(),
    });
  }

  get synced(): Promise<void> {
    return this.#loop.synced;
  }

  problem(): string | undefined {
    return this.#loop.problem() ?? this.#bridgeProblem;
  }

  start(): void {
    const { client, signal, logger } = this.#options;
    const stop = () => background(logger, 'cannot stop the enforcement of network policies', this.stop());
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    const model = this.#model;
    const follow = <T extends KubeObject>(resource: typeof PODS, set: (object: T, exists: boolean) => boolean) =>
      startInformer<T>(client, {
        resource,
        onChange: ({ type, object }) => {
          if (set(object, type !== 'DELETED')) this.#loop.changed();
        },
      }) as Informer<KubeObject>;
    this.#informers = [
      follow<NetworkPolicy>(NETWORK_POLICIES, (policy, exists) => model.setPolicy(policy, exists)),
      follow<Pod>(PODS, (pod, exists) => model.setPod(pod, exists)),
      follow(NAMESPACES, (namespace, exists) => model.setNamespace(namespace, exists)),
    ];
    this.#loop.start(this.#informers);
  }

  async stop({ removeRules = false }: { removeRules?: boolean } = {}): Promise<void> {
    for (const informer of this.#informers.splice(0)) informer.stop();
    await this.#loop.stop({ removeRules });
  }

  #refresh(): void {
    const before = this.#model.isolates;
    this.#model.refresh();
    if (this.#model.isolates !== before) this.#loop.frameChanged();
  }

  /**
   * Makes the kernel apply policies between pods on the same bridge too, by passing bridged packets to the packet filter. Runs at each
   * check, because the bridge may have been recreated.
   */
  async #filterBridge(): Promise<void> {
    const { bridge, sockets, logger } = this.#options;
    if (bridge === undefined || !this.#model.isolates) return;
    const before = this.#bridgeProblem;
    this.#bridgeProblem = undefined;
    try {
      if (canFilterBridges()) await filterBridge(sockets, bridge);
      else this.#bridgeProblem = 'the kernel module br_netfilter is not loaded';
    } catch (error) {
      this.#bridgeProblem = errorMessage(error);
    }
    const message = 'network policies do not apply between pods of the same bridge';
    if (this.#bridgeProblem !== undefined && this.#bridgeProblem !== before)
      logger.error({ bridge, error: this.#bridgeProblem }, message);
  }
}
