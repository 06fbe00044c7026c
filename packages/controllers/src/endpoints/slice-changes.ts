import { stableJson } from '../framework/stable-hash.ts';
import type { Endpoint, EndpointPort, EndpointSlice, NewEndpointSlice } from '../objects/endpoint-slice.ts';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

/** The writes that give the EndpointSlices the desired endpoints. */
export type SliceChanges = { create: NewEndpointSlice[]; update: EndpointSlice[]; delete: EndpointSlice[] };

export const noChanges = (): SliceChanges => ({ create: [], update: [], delete: [] });

/** Returns a key for a list of ports that does not depend on their order. */
export function portsKey(ports: readonly EndpointPort[] | null | undefined): string {
  return (ports ?? [])
    .map(({ name = '', port, protocol = 'TCP', appProtocol }) =>
      JSON.stringify([name, port, protocol, appProtocol ?? null]),
    )
    .sort()
    .join();
}

/** Returns a key that identifies an endpoint. Changes of the endpoint's other fields leave the key unchanged. */
export function endpointKey({ addresses, hostname = '', targetRef = {} }: Endpoint): string {
  return stableJson([addresses.toSorted(), hostname, targetRef.namespace ?? '', targetRef.name ?? '']);
}

export function isSameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return endpointText(a) === endpointText(b);
}

/** Serializes an endpoint for comparison, without its pod's resource version, because most pod changes do not affect the endpoint. */
function endpointText({ targetRef, hints, ...endpoint }: Endpoint): string {
  const { resourceVersion: _version, ...target } = targetRef ?? {};
  return stableJson({ ...endpoint, addresses: endpoint.addresses.toSorted(), target, hints: hints ?? null });
}

/** Reuses slices that would be deleted for new ones, where allowed, so that clients see one change instead of two. */
export function recycled(changes: SliceChanges, isReusable: (slice: EndpointSlice) => boolean): SliceChanges {
  const create = [...changes.create];
  const update = [...changes.update];
  const deleted = changes.delete.filter((old) => {
    const at = create.findLastIndex(({ addressType }) => addressType === old.addressType);
    if (at < 0 || !isReusable(old)) return true;
    update.push(written(create[at]!, old));
    create.splice(at, 1);
    return false;
  });
  return { create, update, delete: deleted };
}

/** Returns the slice to write in place of an existing one: the contents of the new slice with the identity of the old one. */
export function written({ metadata, ...slice }: NewEndpointSlice, old: EndpointSlice): EndpointSlice {
  const { generateName: _prefix, ...changed } = metadata;
  return { ...old, ...slice, metadata: { ...old.metadata, ...changed } };
}

/** Returns the `generateName` prefix for slices: the name and a dash, or only the name if it has the maximum length. */
export function namePrefix(name: string): string {
  return name.length < MAX_NAME_LENGTH ? `${name}-` : name;
}

const MAX_NAME_LENGTH = 253;
