/** Decides the EndpointSlices of a Service with a selector (staging/src/k8s.io/endpointslice/reconciler.go). Pure. */
import type { Node, Pod } from '@podwright/kube-api';
import { SERVICES } from '@podwright/kube-client';
import type {
  AddressType,
  Endpoint,
  EndpointPort,
  EndpointSlice,
  NewEndpointSlice,
} from '../objects/endpoint-slice.ts';
import type { Service } from '../objects/service.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { podEndpoint, portsOnPods } from './pod-endpoint.ts';
import { addressTypesOf, canBeEndpoint, HEADLESS_LABEL, isHeadless, isOwnedBy } from './service-facts.ts';
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
} from './slice-changes.ts';

export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io';
const MAX_ENDPOINTS = 100;
const RESERVED_LABELS = new Set([SERVICE_NAME_LABEL, MANAGED_BY_LABEL, HEADLESS_LABEL]);

export type SlicesState = {
  service: Service;
  /** The pods that match the Service's selector. */
  pods: readonly Pod[];
  nodeOf: (name: string) => Node | undefined;
  /** The Service's slices that are managed by this controller and not being deleted. */
  slices: readonly EndpointSlice[];
};

export type SlicesDecision = SliceChanges & {
  /** Pods without an endpoint, because their nodes are not in the cache. The caller retries them. */
  skipped: Pod[];
};

/** A group of endpoints with the same ports, which share slices. */
type Group = { ports: EndpointPort[]; endpoints: Map<string, Endpoint> };

export function decideSlices(state: SlicesState): SlicesDecision {
  const { service, slices } = state;
  const types = addressTypesOf(service);
  const skipped = new Set<Pod>();
  const decided = types.map((type) => {
    const ofType = slices.filter(({ addressType }) => addressType === type);
    return changesOfType({ ...state, slices: ofType }, type, skipped);
  });
  return {
    create: decided.flatMap((one) => one.create),
    update: decided.flatMap((one) => one.update),
    delete: [
      ...decided.flatMap((one) => one.delete),
      ...slices.filter(({ addressType }) => !types.includes(addressType as AddressType)),
    ],
    skipped: [...skipped],
  };
}

function changesOfType(state: SlicesState, type: AddressType, skipped: Set<Pod>): SliceChanges {
  const { service, slices } = state;
  const groups = groupsOf(state, type, skipped);
  const keys = new Map(slices.map((slice) => [slice, portsKey(slice.ports)]));
  const own = slices.filter((one) => isOwnedBy(one, service));
  const ownByKey = Map.groupBy(own, (slice) => keys.get(slice)!);
  const changes = noChanges();
  for (const [key, group] of groups) {
    const changed = changesOfGroup(service, ownByKey.get(key) ?? [], { ...group, type });
    changes.create.push(...changed.create);
    changes.update.push(...changed.update);
    changes.delete.push(...changed.delete);
  }
  changes.delete.push(...slices.filter((one) => !isOwnedBy(one, service) || !groups.has(keys.get(one)!)));
  const withPlaceholder = slices.length === changes.delete.length ? placed(service, changes, type) : changes;
  return recycled(withPlaceholder, (one) => isOwnedBy(one, service));
}

/** Makes sure that a Service without endpoints has one empty slice, from which clients see that there are no endpoints. */
function placed(service: Service, changes: SliceChanges, type: AddressType): SliceChanges {
  if (changes.create.length > 0) return changes;
  const placeholder = newSlice(service, { ports: [], type }, []);
  const [only, ...others] = changes.delete;
  const isPlaceholder =
    only !== undefined &&
    others.length === 0 &&
    isOwnedBy(only, service) &&
    (only.endpoints ?? []).length === 0 &&
    (only.ports ?? []).length === 0 &&
    hasLabels(only, service);
  return isPlaceholder ? { ...changes, delete: [] } : { ...changes, create: [placeholder] };
}

function groupsOf(
  { service, pods, nodeOf }: SlicesState,
  addressType: AddressType,
  skipped: Set<Pod>,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  const portsOf = portsOnPods(service);
  const keys = new Map<EndpointPort[], string>();
  for (const pod of pods) {
    if (!canBeEndpoint(pod, true)) continue;
    const ports = portsOf(pod);
    const key = keys.get(ports) ?? portsKey(ports);
    keys.set(ports, key);
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    const node = nodeOf(pod.spec.nodeName ?? '');
    if (node === undefined && service.spec.publishNotReadyAddresses !== true) skipped.add(pod);
    else {
      const endpoint = podEndpoint(pod, { service, node, addressType });
      if (endpoint.addresses.length > 0) group.endpoints.set(endpointKey(endpoint), endpoint);
    }
  }
  return groups;
}

/**
 * Decides the slices of endpoints with the same ports. Endpoints stay in their slices. New ones go into slices that are written anyway
 * (fullest first), then into the unchanged slice that becomes fullest, then into new slices.
 */
function changesOfGroup(
  service: Service,
  existing: readonly EndpointSlice[],
  { ports, endpoints, type }: Group & { type: AddressType },
): SliceChanges {
  const left = new Map(endpoints);
  const fillings = existing.map((slice) => keptIn(service, slice, left));
  const changed = fillings.filter(({ state }) => state === 'changed');
  const unchanged = fillings.filter(({ state }) => state === 'unchanged');
  const pending = [...left.values()];
  for (const one of changed.toSorted((a, b) => b.kept.length - a.kept.length))
    one.kept.push(...pending.splice(0, MAX_ENDPOINTS - one.kept.length));
  const create: NewEndpointSlice[] = [];
  while (pending.length > 0) {
    const target = pending.length < MAX_ENDPOINTS ? fullestWith(unchanged, pending.length) : undefined;
    if (target === undefined) create.push(newSlice(service, { ports, type }, pending.splice(0, MAX_ENDPOINTS)));
    else {
      target.kept.push(...pending.splice(0));
      changed.push(target);
    }
  }
  const update = changed.map(({ slice, kept }) => ({ ...withLabels(slice, service), endpoints: kept }));
  return { create, update, delete: fillings.filter(({ state }) => state === 'emptied').map(({ slice }) => slice) };
}

/** A slice being filled, and those of its endpoints that stay in it. */
type Filling = { slice: EndpointSlice; kept: Endpoint[]; state: 'unchanged' | 'changed' | 'emptied' };

/** Fills a slice with the wanted endpoints that it already has, and removes them from `left`. */
function keptIn(service: Service, slice: EndpointSlice, left: Map<string, Endpoint>): Filling {
  const before = slice.endpoints ?? [];
  let isSame = true;
  const kept = before.flatMap((endpoint) => {
    const key = endpointKey(endpoint);
    const wanted = left.get(key);
    left.delete(key);
    if (wanted === undefined || !isSameEndpoint(wanted, endpoint)) isSame = false;
    return wanted === undefined ? [] : [wanted];
  });
  if (isSame) return { slice, kept, state: hasLabels(slice, service) ? 'unchanged' : 'changed' };
  return { slice, kept, state: kept.length === 0 ? 'emptied' : 'changed' };
}

/** Returns the slice that is fullest after adding `count` endpoints. */
function fullestWith(fillings: readonly Filling[], count: number): Filling | undefined {
  const fitting = fillings.filter(({ kept }) => kept.length > 0 && kept.length + count <= MAX_ENDPOINTS);
  return fitting.toSorted((a, b) => b.kept.length - a.kept.length)[0];
}

function newSlice(
  service: Service,
  { ports, type }: { ports: EndpointPort[]; type: AddressType },
  endpoints: Endpoint[],
): NewEndpointSlice {
  const { namespace, name } = service.metadata;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: labelsOf(service),
      ownerReferences: [controllerReference(SERVICES, service)],
    },
    addressType: type,
    ports,
    endpoints,
  };
}

function labelsOf(service: Service): Record<string, string> {
  return {
    ...foreignLabels(service.metadata.labels),
    ...(isHeadless(service) ? { [HEADLESS_LABEL]: '' } : {}),
    [SERVICE_NAME_LABEL]: service.metadata.name,
    [MANAGED_BY_LABEL]: SLICE_CONTROLLER,
  };
}

/**
 * Whether the slice has the Service's labels. Labels set by this controller need not be compared, because a Service never changes between
 * headless and non-headless.
 */
function hasLabels({ metadata }: EndpointSlice, service: Service): boolean {
  const [own, wanted] = [foreignLabels(metadata.labels), foreignLabels(service.metadata.labels)];
  const keys = Object.keys(own);
  return keys.length === Object.keys(wanted).length && keys.every((key) => own[key] === wanted[key]);
}

function foreignLabels(labels: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !RESERVED_LABELS.has(key)));
}

function withLabels(slice: EndpointSlice, service: Service): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels: labelsOf(service) } };
}
