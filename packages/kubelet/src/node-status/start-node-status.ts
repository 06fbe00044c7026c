import { errorMessage, type Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { EventRecorder, Node } from '@podwright/kube-api';
import type { Informer, KubeClient } from '@podwright/kube-client';
import { CsiNodeStart } from './csi-node.ts';
import { hostFacts } from './host-facts.ts';
import { NodeLease } from './node-lease.ts';
import { NodeObserver, type NodeObserverOptions, type NodeRooms } from './node-observer.ts';
import { registerNode } from './node-registration.ts';
import { NodeReporter } from './node-reporter.ts';
import type { NodeSettings } from './node-settings.ts';

export type NodeStatusOptions = {
  name: string;
  /** `--node-labels` and `--node-ip`. */
  labels: Readonly<Record<string, string>>;
  nodeIp: string;
  settings: NodeSettings;
  /** Subnets of pods that the runtime has been told already, as one text; '' for none. */
  podCidr: string;
  facts: Pick<NodeObserverOptions, 'resources' | 'maxPods' | 'reserved' | 'port' | 'declaredFeatures' | 'runtimeName'>;
  rooms: NodeRooms & {
    /** Calls back when the problems may be others than before; returns what ends that. */
    onProblems: (listener: () => void) => () => void;
    /** The node object as the API server has it, whenever that is known. */
    nodeKnown: (node: Node) => void;
    /** The API server was restored from a backup: what watches have told may be wrong. */
    restored: () => void;
    /** Whether this is a host whose device plugins have never been seen. */
    resetExtendedResources: () => boolean;
  };
  client: KubeClient;
  heartbeatClient: KubeClient;
  /** Of the node object alone. Whoever started it stops it. */
  informer: Pick<Informer<Node>, 'get'>;
  cri: CriClient;
  events: EventRecorder;
  logger: Logger;
};

/** The node of a kubelet at its API server. */
export type NodeStatusRoom = {
  /** What decides whether the node is ready has changed: the API server is told without waiting for the next report. */
  prompt(): void;
  stop(): Promise<void>;
};

/** Registers the node, and from then on tells the API server how it is and that it is alive. Waits for no answer. */
export function startNodeStatus(options: NodeStatusOptions): NodeStatusRoom {
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
  const { resetExtendedResources } = options.rooms;
  const registration = {
    ...{ name, labels: options.labels, settings, client, observe },
    resetExtendedResources,
    events,
    logger,
  };
  registering.resolve(settings.register ? registerNode(registration, signal) : undefined);
  const reporter = new NodeReporter({
    ...{ registered, name, heartbeatClient, timeoutMs, informer, observe, events, logger },
    ...{ statusUpdateMs: settings.statusUpdateMs, statusReportMs: settings.statusReportMs },
    onNode: nodeListener(options),
  });
  const { leaseDurationSeconds } = settings;
  const lease = new NodeLease({
    ...{ name, heartbeatClient, timeoutMs, leaseDurationSeconds, logger },
    onRestored: () => {
      options.rooms.restored();
      reporter.distrust();
    },
  });
  const unsubscribe = options.rooms.onProblems(prompt);
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
  const { name, nodeIp, settings, facts, rooms, cri, logger } = options;
  const problems = () => [...rooms.problems(), csiProblem()].filter((problem) => problem !== undefined);
  const wanted = { name, nodeIp, externalCloudProvider: settings.externalCloudProvider };
  return new NodeObserver({
    ...{ wanted, settings, cri, logger, ...facts },
    host: hostFacts(),
    rooms: { ...rooms, problems },
  });
}

/** Tells the runtime the subnets of pods when the cluster gives some. */
function nodeListener({ cri, rooms, podCidr, logger }: NodeStatusOptions): (node: Node) => Promise<void> {
  let told = podCidr;
  return async (node) => {
    rooms.nodeKnown(node);
    const wanted = (node.spec?.podCIDRs ?? []).join(',');
    if (wanted === '' || wanted === told) return;
    try {
      await cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: wanted } } });
      told = wanted;
      logger.info({ podCidr: wanted }, 'the cluster has given the node its subnet of pods');
    } catch (error) {
      logger.error({ podCidr: wanted, error: errorMessage(error) }, 'the runtime could not be told the subnet of pods');
    }
  };
}
