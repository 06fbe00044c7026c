import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { kubeletOptions, startKubelet } from '@podwright/kubelet';
import { NODE_NAME, nodeAddress, startUpstreamKubelet } from '../../../scripts/upstream-kubelet.ts';

export type Places = { scratch: string; root: string; logs: string; manifests: string };

/** An event recorded by a kubelet. Podwright's kubelet aggregates repeated events, in which case this is the last occurrence. */
export type SeenEvent = {
  atMs: number;
  object: string;
  fieldPath: string;
  type: string;
  reason: string;
  message: string;
};

export type ComparedKubelet = {
  pods(): Promise<Pod[]>;
  events(): Promise<SeenEvent[]>;
  stop(): Promise<void>;
};

const PORTS = { readOnly: 10_355, https: 10_350, healthz: 10_348 };

/** Starts upstream's kubelet, whose events are read from its log. */
export async function startUpstream(endpoint: string, cgroupRoot: string, places: Places): Promise<ComparedKubelet> {
  const { scratch: directory, ...rest } = places;
  const kubelet = await startUpstreamKubelet({
    ...{ program: process.env.PODWRIGHT_UPSTREAM_KUBELET!, directory, endpoint, cgroupRoot, ...rest },
    ...{ ports: PORTS, flags: ['-v=4'] },
  });
  return {
    pods: async () => {
      const answer = await fetch(`http://127.0.0.1:${PORTS.readOnly}/pods`);
      return ((await answer.json()) as { items: Pod[] | null }).items ?? [];
    },
    events: async () => eventsOfLog(readFileSync(join(directory, 'kubelet.log'), 'utf8')),
    stop: kubelet.stop,
  };
}

/** Returns the events in the log of upstream's kubelet, the only place where it reports them without an API server. */
function eventsOfLog(text: string): SeenEvent[] {
  const lines = text.split('\n').filter((line) => line.includes('"Event occurred"'));
  return lines.map((line) => {
    const field = (key: string): string =>
      JSON.parse(`"${new RegExp(`${key}="((?:[^"\\\\]|\\\\.)*)"`).exec(line)?.[1] ?? ''}"`);
    const [object, fieldPath, type, reason] = [field('object'), field('fieldPath'), field('type'), field('reason')];
    return { atMs: timeOfLine(line), object, fieldPath, type, reason, message: field('message') };
  });
}

/** Parses the timestamp (local time) of a log line such as `I1122 16:54:21.885253`. */
function timeOfLine(line: string): number {
  const [, month, day, time] = /^.(\d\d)(\d\d) (\S+)/.exec(line)!;
  return Date.parse(`${new Date().getFullYear()}-${month}-${day}T${time}`);
}

export async function startOurs(endpoint: string, cgroupRoot: string, places: Places): Promise<ComparedKubelet> {
  const options = kubeletOptions({
    nodeName: NODE_NAME,
    nodeIp: nodeAddress(),
    runtimeEndpoint: endpoint,
    manifestDir: places.manifests,
    rootDir: places.root,
    podLogsDir: places.logs,
    cgroupRoot,
    logger: createLogger({ level: 'error' }),
  });
  // no eviction thresholds, because upstream's kubelet is started without any as well
  const kubelet = await startKubelet({ ...options, eviction: { ...options.eviction, hard: {} } });
  return {
    pods: async () => kubelet.pods(),
    events: async () =>
      kubelet.events().map(({ involvedObject, type, reason, message, lastTimestamp }) => ({
        atMs: Date.parse(lastTimestamp),
        object: [involvedObject.namespace, involvedObject.name].filter(Boolean).join('/'),
        fieldPath: involvedObject.fieldPath ?? '',
        type,
        reason,
        message,
      })),
    stop: () => kubelet.close(),
  };
}
