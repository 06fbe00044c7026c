/** Whether the pods of a Service can answer, as far as the objects show it. Pure. */
import { counted } from '@podwright/base';
import { type KubeObject, matchesEveryLabel, type Pod } from '@podwright/kube-api';
import type { Finding } from '../causes/finding.ts';
import { isPodWell } from '../causes/pod-causes.ts';

type ServicePort = { name?: string; port: number; targetPort?: number | string };

/** The fields of a Service that determine whether it can answer. */
export type ServiceObject = KubeObject & {
  spec?: {
    type?: string;
    clusterIP?: string;
    externalName?: string;
    selector?: Record<string, string>;
    ports?: ServicePort[];
    publishNotReadyAddresses?: boolean;
  };
};

export type ServiceHealth = {
  /** The pods with the labels of the Service's selector. */
  selected: Pod[];
  /** Those of them that are endpoints to which connections are forwarded. */
  ready: Pod[];
  /** Why the Service cannot answer: `no-selected-pods`, `no-ready-pods` or `wrong-target-port`. */
  finding?: Finding;
};

/**
 * Returns the pods of a Service, and why they cannot answer. `pods`: all pods of the Service's namespace, and maybe of others. Returns
 * undefined for a Service without a selector, whose endpoints are not determined by pods.
 */
export function serviceHealth({ metadata, spec = {} }: ServiceObject, pods: readonly Pod[]): ServiceHealth | undefined {
  const { selector = {}, publishNotReadyAddresses = false } = spec;
  if (spec.type === 'ExternalName' || Object.keys(selector).length === 0) return undefined;
  const neighbours = pods.filter((pod) => pod.metadata.namespace === metadata.namespace);
  const selected = neighbours.filter((pod) => matchesEveryLabel(selector, pod.metadata.labels));
  const ready = selected.filter((pod) => !isEnded(pod) && (publishNotReadyAddresses || isPodWell(pod)));
  const finding =
    selected.length === 0
      ? noPods(selector, neighbours)
      : ready.length === 0
        ? noReadyPods(selected.length)
        : wrongPort(spec, ready);
  return { selected, ready, ...(finding !== undefined && { finding }) };
}

const isEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const noPods = (selector: Record<string, string>, pods: Pod[]): Finding => ({
  cause: 'no-selected-pods',
  sentence: `has no endpoint: no pod has the labels of its selector (${labelText(selector)})`,
  advice: nearest(selector, pods),
});

const noReadyPods = (count: number): Finding => ({
  cause: 'no-ready-pods',
  sentence: `has no ready endpoint: 0 of ${counted(count, 'pod')} ready`,
  advice: [],
});

/** Recognizes a target port that no ready pod declares. Clients of headless Services connect to the pods and do not use target ports. */
function wrongPort({ clusterIP, ports = [] }: NonNullable<ServiceObject['spec']>, ready: Pod[]): Finding | undefined {
  const sentence = clusterIP === 'None' ? undefined : ports.flatMap((port) => undeclared(port, ready))[0];
  if (sentence === undefined) return undefined;
  const advice = ["Correct targetPort in the Service, or the container's ports."];
  return { cause: 'wrong-target-port', sentence, advice };
}

/** Returns a sentence if no pod declares the target port. Pods that declare no ports at all can still listen on a numeric port. */
function undeclared({ port, targetPort = port }: ServicePort, pods: Pod[]): string[] {
  const declared = pods.flatMap(({ spec }) =>
    [...spec.containers, ...(spec.initContainers ?? [])].flatMap((container) => container.ports ?? []),
  );
  const has = declared.some(({ name, containerPort }) => name === targetPort || containerPort === targetPort);
  if (has || (typeof targetPort === 'number' && declared.length === 0)) return [];
  const ports = [
    ...new Set(declared.map(({ name, containerPort }) => (name ? `${name} (${containerPort})` : containerPort))),
  ];
  const what = ports.length === 0 ? 'no ports' : `only ${ports.join(', ')}`;
  return [`port ${port} leads to the target port ${targetPort}, and its pods declare ${what}`];
}

const labelText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** Returns advice that names the pod whose labels have the most keys in common with the Service's selector. */
function nearest(selector: Record<string, string>, pods: Pod[]): string[] {
  const keys = Object.keys(selector);
  const shared = ({ metadata: { labels = {} } }: Pod) => keys.filter((key) => labels[key] !== undefined).length;
  const [best] = pods.toSorted((a, b) => shared(b) - shared(a));
  if (best === undefined) return ['The namespace has no pods: create the workload whose pods the Service selects.'];
  if (shared(best) === 0) return ['Correct spec.selector, or the labels in the template of the workload.'];
  const labels = Object.fromEntries(
    keys.flatMap((key) => (best.metadata.labels?.[key] ? [[key, best.metadata.labels[key]]] : [])),
  );
  return [`Correct spec.selector or the labels: pod ${best.metadata.name} has ${labelText(labels)}.`];
}
