import type { Node, Pod } from '@podwright/kube-api';
import type { AddressType, Endpoint, EndpointPort } from '../objects/endpoint-slice.ts';
import type { Service } from '../objects/service.ts';
import { isReady } from '../pods/pod-state.ts';
import { addressesOf, hostnameIn, type NamedPorts, namedPorts, targetPort } from './service-facts.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const CLOSE_DISTRIBUTIONS = new Set(['PreferClose', 'PreferSameZone', 'PreferSameNode']);

export type EndpointInput = { service: Service; node: Node | undefined; addressType: AddressType };

/** Returns a pod's endpoint for an address family. It has no addresses if the pod has none of this family. */
export function podEndpoint(pod: Pod, { service, node, addressType }: EndpointInput): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const nodeName = pod.spec.nodeName || undefined;
  const zone = node?.metadata.labels?.[ZONE_LABEL] || undefined;
  const hostname = hostnameIn(pod, service);
  const hints = ready ? hintsOf(service, { nodeName, zone }) : undefined;
  return {
    addresses: addressesOf(pod, addressType).sort(),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  };
}

/**
 * Returns a function that returns the Service's ports on a pod. Pods with equal ports share one list, because there may be many ports and
 * many pods. Omits ports whose name the pod does not have.
 */
export function portsOnPods({ spec }: Service): (pod: Pod) => EndpointPort[] {
  const targets = new Set((spec.ports ?? []).map(({ targetPort, protocol = 'TCP' }) => `${protocol} ${targetPort}`));
  const known = new Map<string, EndpointPort[]>();
  return (pod) => {
    const named = namedPorts(pod);
    const id = JSON.stringify([...named].filter(([name]) => targets.has(name)).sort());
    const ports = known.get(id) ?? portsWith(named, spec);
    known.set(id, ports);
    return ports;
  };
}

function portsWith(named: NamedPorts, spec: Service['spec']): EndpointPort[] {
  return (spec.ports ?? []).flatMap((servicePort) => {
    const port = targetPort(named, servicePort);
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

/** Returns an endpoint's hints for `trafficDistribution`, with which traffic prefers endpoints in its own zone or on its own node. */
function hintsOf({ spec }: Service, { nodeName, zone }: { nodeName?: string; zone?: string }): Endpoint['hints'] {
  const { trafficDistribution = '' } = spec;
  if (!CLOSE_DISTRIBUTIONS.has(trafficDistribution)) return undefined;
  const isNodeHinted = trafficDistribution === 'PreferSameNode' && nodeName !== undefined;
  if (zone === undefined && !isNodeHinted) return undefined;
  return {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(isNodeHinted ? { forNodes: [{ name: nodeName }] } : {}),
  };
}
