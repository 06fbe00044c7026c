import { PodwrightError } from '@podwright/base';
import type { IntOrString, Pod } from '@podwright/kube-api';
import type { ApiObject } from '../api-port.ts';
import type { Service, ServicePort } from '../service.ts';
import type { Workload } from '../workload.ts';

export type ExposeOptions = {
  name?: string;
  /** The ports of the Service. Default: the ports that the exposed object declares. */
  ports?: number[];
  targetPort?: IntOrString;
  protocol?: string;
  type?: string;
  selector?: Record<string, string>;
  labels?: Record<string, string>;
  clusterIP?: string;
  externalIP?: string;
  loadBalancerIP?: string;
  sessionAffinity?: string;
};

/** Kinds whose pods a Service can select. */
const EXPOSED = new Set(['Pod', 'Service', 'ReplicationController', 'ReplicaSet', 'Deployment']);

/** Returns the Service that `kubectl expose` would create for an object. Throws `invalid_argument` if that is not possible. */
export function serviceOf(object: ApiObject, options: ExposeOptions): Service {
  const { kind = '', metadata } = object;
  if (!EXPOSED.has(kind)) throw invalid(`cannot expose a ${kind}`);
  const { type, clusterIP, externalIP, loadBalancerIP, sessionAffinity } = options;
  const ports = portsFor(object, options);
  if (ports.length === 0 && clusterIP !== 'None') throw invalid("couldn't find port via --port flag or introspection");
  const { name = metadata.name, labels = metadata.labels } = options;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: metadata.namespace, ...(labels && { labels }) },
    spec: {
      ...(ports.length > 0 && { ports }),
      selector: options.selector ?? selectorFor(object),
      ...(type && { type }),
      ...(clusterIP && { clusterIP }),
      ...(externalIP && { externalIPs: [externalIP] }),
      ...(loadBalancerIP && { loadBalancerIP }),
      ...(sessionAffinity && { sessionAffinity }),
    },
  };
}

const invalid = (message: string) => new PodwrightError('invalid_argument', `expose: ${message}`);

function portsFor(object: ApiObject, { ports, targetPort, protocol }: ExposeOptions): ServicePort[] {
  const declared = declaredPorts(object);
  const wanted: ServicePort[] =
    ports?.map((port) => ({ port, protocol: declared.find((one) => one.port === port)?.protocol ?? 'TCP' })) ??
    declared;
  return wanted.map(({ port, protocol: own }, index) => ({
    ...(wanted.length > 1 && { name: `port-${index + 1}` }),
    port,
    protocol: protocol ?? own ?? 'TCP',
    targetPort: targetPort ?? port,
  }));
}

function declaredPorts({ kind, spec }: ApiObject): ServicePort[] {
  if (kind === 'Service') return (spec as Service['spec']).ports ?? [];
  const pod = kind === 'Pod' ? (spec as Pod['spec']) : (spec as Workload['spec']).template?.spec;
  const ports = (pod?.containers ?? []).flatMap(({ ports = [] }) => ports);
  return ports.map(({ containerPort, protocol = 'TCP' }) => ({ port: containerPort, protocol }));
}

function selectorFor({ kind, metadata, spec }: ApiObject): Record<string, string> {
  if (kind === 'Pod') {
    if (metadata.labels !== undefined && Object.keys(metadata.labels).length > 0) return metadata.labels;
    throw invalid(
      "couldn't retrieve selectors via --selector flag or introspection: the pod has no labels and cannot be exposed",
    );
  }
  const { selector = {} } = spec as {
    selector?: { matchLabels?: Record<string, string>; matchExpressions?: object[] };
  };
  if (kind === 'Service' || kind === 'ReplicationController') {
    if (Object.keys(selector).length > 0) return selector as Record<string, string>;
    throw invalid(
      `couldn't retrieve selectors via --selector flag or introspection: the ${kind?.toLowerCase()} has none`,
    );
  }
  if ((selector.matchExpressions ?? []).length > 0)
    throw invalid(`couldn't convert expressions of the selector to the map of a Service; give one with --selector`);
  return selector.matchLabels ?? {};
}
