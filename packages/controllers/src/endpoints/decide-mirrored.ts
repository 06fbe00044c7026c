/** Builds EndpointSlices that mirror Endpoints objects written by clients (pkg/controller/endpointslicemirroring). Pure. */
import { isIP } from 'node:net';
import { stableJson } from '../framework/stable-hash.ts';
import type {
  AddressType,
  Endpoint,
  EndpointPort,
  EndpointSlice,
  NewEndpointSlice,
} from '../objects/endpoint-slice.ts';
import { ENDPOINTS, type EndpointAddress, type EndpointSubset, type Endpoints } from '../objects/endpoints.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { typeOfAddress } from './service-facts.ts';
import {
  endpointKey,
  isSameEndpoint,
  MANAGED_BY_LABEL,
  namePrefix,
  noChanges,
  portsKey,
  recycled,
  SERVICE_NAME_LABEL,
  type SliceChanges,
  TRIGGER_TIME,
  written,
} from './slice-changes.ts';
import { repacked } from './subsets.ts';

export const MIRRORING_CONTROLLER = 'endpointslicemirroring-controller.k8s.io';
const SKIP_LABEL = 'endpointslice.kubernetes.io/skip-mirror';
const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Maximum number of addresses mirrored per subset. */
export const MAX_MIRRORED = 1000;
const TYPES: readonly AddressType[] = ['IPv4', 'IPv6'];

export type MirrorDecision = SliceChanges & { invalid: number; surplus: number };

/** Whether the Endpoints object is a leader election lock rather than a list of addresses. */
export function isLeaderElection({ annotations }: Endpoints['metadata']): boolean {
  return annotations?.[LEADER_ANNOTATION] !== undefined;
}

export function isMirrored({ metadata }: Endpoints): boolean {
  return metadata.labels?.[SKIP_LABEL] !== 'true' && !isLeaderElection(metadata);
}

/** Decides the slices that mirror an Endpoints object: one per subset and address family. `slices` are the ones that mirror it so far. */
export function decideMirrored(endpoints: Endpoints, slices: readonly EndpointSlice[]): MirrorDecision {
  const counts = { invalid: 0, surplus: 0 };
  const changes = noChanges();
  const wantedKeys = new Set<string>();
  for (const subset of repacked(endpoints.subsets ?? [])) {
    const mirrored = mirroredOf(subset, counts);
    const ports = portsOf(subset);
    for (const type of TYPES) {
      const key = sliceKey(type, ports);
      wantedKeys.add(key);
      const existing = slices.filter((one) => sliceKey(one.addressType, one.ports) === key);
      const wanted = mirrored.filter(({ addresses }) => typeOfAddress(addresses[0]!) === type);
      mirrorInto(changes, existing, newSlice(endpoints, { type, ports, wanted }));
    }
  }
  changes.delete.push(...slices.filter((one) => !wantedKeys.has(sliceKey(one.addressType, one.ports))));
  return { ...recycled(changes, () => true), ...counts };
}

/**
 * Adds the changes after which exactly one slice has the wanted endpoints, or none if there are no endpoints: keeps or rewrites the first
 * existing slice, or creates one, and deletes the others.
 */
function mirrorInto(changes: SliceChanges, existing: readonly EndpointSlice[], wanted: NewEndpointSlice): void {
  const [first, ...others] = existing;
  if (wanted.endpoints.length === 0) changes.delete.push(...existing);
  else if (first === undefined) changes.create.push(wanted);
  else {
    changes.delete.push(...others);
    if (!isMirrorOf(first, wanted)) changes.update.push(written(wanted, first));
  }
}

function isMirrorOf({ metadata, endpoints }: EndpointSlice, wanted: NewEndpointSlice): boolean {
  const isSameMetadata =
    stableJson(metadata.labels ?? {}) === stableJson(wanted.metadata.labels) &&
    stableJson(metadata.annotations ?? {}) === stableJson(wanted.metadata.annotations);
  const known = new Map((endpoints ?? []).map((one) => [endpointKey(one), one]));
  const isSame = (one: Endpoint) => {
    const same = known.get(endpointKey(one));
    return same !== undefined && isSameEndpoint(same, one);
  };
  return isSameMetadata && known.size === wanted.endpoints.length && wanted.endpoints.every(isSame);
}

function mirroredOf(
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
  counts: { invalid: number; surplus: number },
): Endpoint[] {
  const all = [
    ...addresses.map((address) => ({ address, ready: true })),
    ...notReadyAddresses.map((address) => ({ address, ready: false })),
  ];
  const valid = all.filter(({ address }) => isIP(address.ip) !== 0);
  counts.invalid += all.length - valid.length;
  counts.surplus += Math.max(0, valid.length - MAX_MIRRORED);
  return valid.slice(0, MAX_MIRRORED).map(({ address, ready }) => endpointOf(address, ready));
}

function endpointOf({ ip, hostname = '', nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === '' ? {} : { hostname }),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

function portsOf({ ports = [] }: EndpointSubset): EndpointPort[] {
  return ports.map(({ name = '', port, protocol = 'TCP', ...rest }) => ({ name, port, protocol, ...rest }));
}

function sliceKey(type: string, ports: readonly EndpointPort[] | null | undefined): string {
  return `${type} ${portsKey(ports)}`;
}

type SliceContent = { type: AddressType; ports: EndpointPort[]; wanted: Endpoint[] };

function newSlice(endpoints: Endpoints, { type, ports, wanted }: SliceContent): NewEndpointSlice {
  const { namespace, name, labels } = endpoints.metadata;
  const { [TRIGGER_TIME]: _time, [LAST_APPLIED]: _applied, ...annotations } = endpoints.metadata.annotations ?? {};
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: { ...labels, [SERVICE_NAME_LABEL]: name, [MANAGED_BY_LABEL]: MIRRORING_CONTROLLER },
      annotations,
      ownerReferences: [controllerReference(ENDPOINTS, endpoints)],
    },
    addressType: type,
    ports,
    endpoints: wanted,
  };
}
