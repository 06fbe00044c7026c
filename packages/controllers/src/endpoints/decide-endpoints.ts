/** Builds the Endpoints object of a Service with a selector (pkg/controller/endpoint/endpoints_controller.go). Pure. */
import { formatTime, type Pod } from '@podwright/kube-api';
import { stableJson } from '../framework/stable-hash.ts';
import type { EndpointPort } from '../objects/endpoint-slice.ts';
import type { EndpointAddress, EndpointSubset, Endpoints, SubsetPort } from '../objects/endpoints.ts';
import type { Service } from '../objects/service.ts';
import { isReady } from '../pods/pod-state.ts';
import { portsOnPods } from './pod-endpoint.ts';
import { addressesOf, addressTypesOf, canBeEndpoint, HEADLESS_LABEL, hostnameIn, isHeadless } from './service-facts.ts';
import { TRIGGER_TIME } from './slice-changes.ts';
import { repacked, truncated } from './subsets.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const CONTROLLER = 'endpoint-controller';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

export type EndpointsState = {
  service: Service;
  pods: readonly Pod[];
  existing: Endpoints | undefined;
  /** Unix time of the change that triggered this sync, in milliseconds; undefined if unknown. */
  triggerMs: number | undefined;
};

/** An Endpoints object to create or update. */
export type NewEndpoints = Omit<Endpoints, 'metadata'> & { metadata: Omit<Endpoints['metadata'], 'uid'> };

/** Returns the Endpoints object to write, or undefined if the existing one is up to date. */
export function decideEndpoints({ service, pods, existing, triggerMs }: EndpointsState): NewEndpoints | undefined {
  const portsOf = subsetPorts(service);
  const wanted = repacked(pods.flatMap((pod) => subsetsOf(service, pod, portsOf)));
  const labels = labelsOf(service);
  const { subsets, isTruncated } = truncated(wanted);
  if (existing !== undefined && isRight(existing, { labels, subsets: wanted })) return undefined;
  const { [TRIGGER_TIME]: _time, [OVER_CAPACITY]: _capacity, ...others } = existing?.metadata.annotations ?? {};
  const { namespace, name } = service.metadata;
  return {
    ...existing,
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      namespace,
      name,
      ...existing?.metadata,
      labels,
      annotations: {
        ...others,
        ...(triggerMs === undefined ? {} : { [TRIGGER_TIME]: formatTime(triggerMs) }),
        ...(isTruncated ? { [OVER_CAPACITY]: 'truncated' } : {}),
      },
    },
    subsets,
  };
}

/**
 * Whether the existing Endpoints object needs no update. As in upstream, an object marked as having too many addresses is always rewritten.
 */
function isRight(
  { metadata, subsets }: Endpoints,
  wanted: { labels: Record<string, string>; subsets: EndpointSubset[] },
): boolean {
  const isOver = metadata.annotations?.[OVER_CAPACITY] !== undefined;
  const hasLabels = stableJson(withoutHeadless(metadata.labels)) === stableJson(withoutHeadless(wanted.labels));
  return !isOver && hasLabels && subsetsText(repacked(subsets ?? [])) === subsetsText(wanted.subsets);
}

function withoutHeadless({
  [HEADLESS_LABEL]: _headless,
  ...labels
}: Record<string, string> = {}): Record<string, string> {
  return labels;
}

/** Serializes subsets for comparison, without the resource versions of pods. */
function subsetsText(subsets: readonly EndpointSubset[]): string {
  return stableJson(subsets).replaceAll(/,"resourceVersion":"[^"]*"/g, '');
}

function subsetsOf(service: Service, pod: Pod, portsOf: (pod: Pod) => SubsetPort[]): EndpointSubset[] {
  const { publishNotReadyAddresses = false, ports = [] } = service.spec;
  const address = canBeEndpoint(pod, publishNotReadyAddresses) ? addressOf(service, pod) : undefined;
  if (address === undefined) return [];
  const list = publishNotReadyAddresses || isReady(pod) ? 'addresses' : 'notReadyAddresses';
  if (ports.length === 0) return service.spec.clusterIP === 'None' ? [{ [list]: [address] }] : [];
  const podPorts = portsOf(pod);
  return podPorts.length === 0 ? [] : [{ [list]: [address], ports: podPorts }];
}

/** Returns a function that returns the Service's ports on a pod. Pods with equal ports share one list. */
function subsetPorts(service: Service): (pod: Pod) => SubsetPort[] {
  const portsOf = portsOnPods(service);
  const known = new Map<EndpointPort[], SubsetPort[]>();
  return (pod) => {
    const ports = portsOf(pod);
    const converted = known.get(ports) ?? ports.map(subsetPort);
    known.set(ports, converted);
    return converted;
  };
}

const subsetPort = ({ name = '', port = 0, ...rest }: EndpointPort): SubsetPort => ({
  ...(name === '' ? {} : { name }),
  port,
  ...rest,
});

function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const [family] = familyOf(service, pod);
  const [ip] = addressesOf(pod, family!);
  if (ip === undefined) return undefined;
  const { namespace, name, uid } = pod.metadata;
  const hostname = hostnameIn(pod, service);
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName: pod.spec.nodeName ?? '',
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/**
 * Returns the address types of a Service's endpoints. A headless Service without families, as stored by old servers, uses the pod's family.
 */
function familyOf(service: Service, pod: Pod): ReturnType<typeof addressTypesOf> {
  const { ipFamilies = [] } = service.spec;
  if (ipFamilies.length > 0 || !isHeadless(service)) return addressTypesOf(service);
  return [(pod.status?.podIP ?? '').includes(':') ? 'IPv6' : 'IPv4'];
}

function labelsOf(service: Service): Record<string, string> {
  const { [HEADLESS_LABEL]: _headless, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(isHeadless(service) ? { [HEADLESS_LABEL]: '' } : {}), [MANAGED_BY]: CONTROLLER };
}
