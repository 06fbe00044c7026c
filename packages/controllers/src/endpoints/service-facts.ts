/** The properties of a Service and its pods that determine its endpoints (staging/src/k8s.io/endpointslice). Pure. */
import { isSidecar, type Pod } from '@podwright/kube-api';
import type { AddressType } from '../objects/endpoint-slice.ts';
import type { Service, ServicePort } from '../objects/service.ts';
import { isEnded } from '../pods/pod-state.ts';

export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
const SERVICE_KIND = 'Service';

/**
 * Whether the controllers compute the Service's endpoints. Other Services are external names, or their endpoints are written by clients.
 */
export function hasComputedEndpoints({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && spec.selector !== undefined;
}

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/**
 * Whether a pod can be an endpoint: it has an address and is not in a terminal phase. Pods being deleted qualify only if
 * `includesTerminating` is set.
 */
export function canBeEndpoint(pod: Pod, includesTerminating: boolean): boolean {
  const { podIP = '', podIPs = [] } = pod.status ?? {};
  if (isEnded(pod) || (podIP === '' && podIPs.length === 0)) return false;
  return includesTerminating || pod.metadata.deletionTimestamp === undefined;
}

/** Returns the pod's hostname if it has a DNS name within the Service. */
export function hostnameIn({ metadata, spec }: Pod, service: Service): string | undefined {
  const { hostname = '', subdomain } = spec;
  const isIn = subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace;
  return isIn && hostname !== '' ? hostname : undefined;
}

/** Returns the pod's addresses of this address family. */
export function addressesOf({ status }: Pod, type: AddressType): string[] {
  return (status?.podIPs ?? []).map(({ ip }) => ip).filter((ip) => typeOfAddress(ip) === type);
}

export function typeOfAddress(address: string): AddressType {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/**
 * Returns the Service's IP families. A Service stored by an old server without families has the family of its address, or both if it is
 * headless.
 */
export function addressTypesOf(service: Service): AddressType[] {
  const { ipFamilies = [], clusterIP = '' } = service.spec;
  const families = ipFamilies.filter((one) => one === 'IPv4' || one === 'IPv6');
  if (families.length > 0) return families;
  return isHeadless(service) ? ['IPv4', 'IPv6'] : [typeOfAddress(clusterIP)];
}

/** Returns the pod port targeted by a Service port: its numeric `targetPort`, or the container port with that name and protocol. */
export function targetPort(
  named: NamedPorts,
  { targetPort: target, port, protocol = 'TCP' }: ServicePort,
): number | undefined {
  return typeof target === 'string' ? named.get(`${protocol} ${target}`) : (target ?? port);
}

/** A pod's port numbers by `PROTOCOL NAME`. Of several ports with the same name, the first one counts. */
export type NamedPorts = ReadonlyMap<string, number>;

export function namedPorts({ spec }: Pod): NamedPorts {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  const ports = containers.flatMap((container) => container.ports ?? []);
  return new Map(
    ports.reverse().map(({ name = '', protocol = 'TCP', containerPort }) => [`${protocol} ${name}`, containerPort]),
  );
}

/** Whether an EndpointSlice has an owner reference to the Service. */
export function isOwnedBy(
  object: { metadata: Service['metadata'] },
  { metadata: { namespace, name, uid } }: Service,
): boolean {
  if (object.metadata.namespace !== namespace) return false;
  const owners = object.metadata.ownerReferences ?? [];
  return owners.some(
    (one) => one.uid === uid && one.name === name && one.kind === SERVICE_KIND && one.apiVersion === 'v1',
  );
}
