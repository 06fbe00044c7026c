import { errorMessage, type Logger, pause } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { EventRecorder, Node } from '@podwright/kube-api';
import type { Informer, KubeClient } from '@podwright/kube-client';
import type { NodeSettings } from '@podwright/kubelet-configuration';
import { CsiNodeStart } from './csi-node.ts';
import { hostFacts } from './host-facts.ts';
import { NODE_PROMPT_PERIOD_MS } from './limits.ts';
import { NodeLease } from './node-lease.ts';
import { NodeObserver, type NodeObserverOptions, type NodeStatusSources } from './node-observer.ts';
import { registerNode } from './node-registration.ts';
import { NodeReporter } from './node-reporter.ts';

export type NodeStatusOptions = {
  name: string;
  /** Labels from `--node-labels`; `nodeIp` is the value of `--node-ip`. */
  labels: Readonly<Record<string, string>>;
  nodeIp: string;
  settings: NodeSettings;
  /**
   * Whether to register the node again when its Node object is deleted. False in a cluster, where an administrator may have deleted it to
   * remove the node.
   */
  registersAgain: boolean;
  /** The pod subnets that the container runtime is already configured with, separated by commas; '' if none. */
  podCidr: string;
  facts: Pick<NodeObserverOptions, 'resources' | 'maxPods' | 'reserved' | 'port' | 'declaredFeatures' | 'runtimeName'>;
  sources: NodeStatusSources & {
    /** Calls the listener when `problems()` may have changed. The returned function unsubscribes. */
    onProblems: (listener: () => void) => () => void;
    /** Called with the API server's node object at the beginning and at the end of each report. */
    nodeKnown: (node: Node) => void;
    /** Called when the API server has been restored from a backup. Existing watches might then show objects that the server has lost. */
    restored: () => void;
    /** Whether no device plugin has ever registered on this host. */
    resetExtendedResources: () => boolean;
  };
  client: KubeClient;
  heartbeatClient: KubeClient;
  /** Informer for this node's object. The caller stops it. */
  informer: Pick<Informer<Node>, 'get'>;
  cri: CriClient;
  events: EventRecorder;
  logger: Logger;
};

/** Handle to a node's registration and status reporting. */
export type RunningNodeStatus = {
  /** Triggers an early report, because the node's readiness or its volumes in use may have changed. */
  prompt(): void;
  stop(): Promise<void>;
};

/** Registers the node, then reports its status and renews its lease. Returns without waiting for the API server. */
export function startNodeStatus(options: NodeStatusOptions): RunningNodeStatus {
  const { name, settings, client, informer, heartbeatClient, events, logger } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const timeoutMs = Math.min(settings.statusUpdateMs, settings.leaseDurationSeconds * 1000);
  const prompt = () => reporter.prompt();
  const registering = Promise.withResolvers<Node | undefined>();
  const registered = registering.promise;
  const csiNode = new CsiNodeStart({ name, client, registered, onChange: prompt, logger });
  const observer = makeObserver(options, () => csiNode.problem());
  const observe = (until: AbortSignal) => observer.observe(until);
  const { resetExtendedResources } = options.sources;
  const registration = {
    ...{ name, labels: options.labels, settings, client, observe },
    resetExtendedResources,
    events,
    logger,
  };
  registering.resolve(settings.register ? registerNode(registration, signal) : undefined);
  // wait for the first attempt to create the CSINode: without a CSINode, the first report would show the node as not ready, and the next
  // report might follow only after a pause
  const withCsiNode = registered.then(async (node) => {
    await Promise.race([csiNode.tried, pause(NODE_PROMPT_PERIOD_MS, signal)]);
    return node;
  });
  const reporter = new NodeReporter({
    ...{ registered: withCsiNode, name, heartbeatClient, timeoutMs, informer, observe, events, logger },
    ...{ statusUpdateMs: settings.statusUpdateMs, statusReportMs: settings.statusReportMs },
    ...(options.registersAgain && { registerAgain: (until: AbortSignal) => registerNode(registration, until) }),
    onNode: nodeListener(options),
  });
  const { leaseDurationSeconds } = settings;
  const lease = new NodeLease({
    ...{ name, heartbeatClient, timeoutMs, leaseDurationSeconds, logger },
    onRestored: () => {
      options.sources.restored();
      reporter.serverRestored();
    },
  });
  const unsubscribe = options.sources.onProblems(prompt);
  const loops = [reporter, csiNode, lease].map((loop) => loop.run(signal));
  return {
    prompt,
    stop: async () => {
      unsubscribe();
      controller.abort();
      await Promise.all(loops);
    },
  };
}

function makeObserver(options: NodeStatusOptions, csiProblem: () => string | undefined): NodeObserver {
  const { name, nodeIp, settings, facts, sources, cri, logger } = options;
  const problems = () => [...sources.problems(), csiProblem()].filter((problem) => problem !== undefined);
  const wanted = { name, nodeIp, externalCloudProvider: settings.externalCloudProvider };
  return new NodeObserver({
    ...{ wanted, settings, cri, logger, ...facts },
    host: hostFacts(),
    sources: { ...sources, problems },
  });
}

/** Passes the node's pod subnets to the container runtime whenever the cluster assigns or changes them. */
function nodeListener({ cri, sources, podCidr, logger }: NodeStatusOptions): (node: Node) => Promise<void> {
  let current = podCidr;
  return async (node) => {
    sources.nodeKnown(node);
    const wanted = (node.spec?.podCIDRs ?? []).join(',');
    if (wanted === '' || wanted === current) return;
    try {
      await cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: wanted } } });
      current = wanted;
      logger.info({ podCidr: wanted }, 'updated the pod subnets of the runtime');
    } catch (error) {
      logger.error(
        { podCidr: wanted, error: errorMessage(error) },
        'the pod subnets of the runtime could not be updated',
      );
    }
  };
}
