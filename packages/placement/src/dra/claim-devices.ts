/** Determines the devices that containers get from prepared ResourceClaims. Pure. */
import {
  type AllocatedResourceStatus,
  type Container,
  type ContainerClaim,
  claimStatusesOf,
  isExtendedResource,
  type Pod,
  type PodResourceClaim,
} from '@podwright/kube-api';
import type { ClaimRecord, PreparedDevice } from './claim-records.ts';
import type { DeviceHealth, DeviceName } from './device-health.ts';
import { refusal } from './pod-claims.ts';

/** Looks up a prepared ResourceClaim in the pod's namespace by name. */
export type PreparedClaims = (claimName: string) => ClaimRecord | undefined;

/** A request within a ResourceClaim; '' means all of the claim's requests. */
type Asked = { claimName: string; request: string };

type HealthOf = (driver: string, device: DeviceName) => DeviceHealth;

/** Prefix of extended resources that map to a DeviceClass (resource.k8s.io) instead of a device plugin resource. */
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/** Returns the CDI device names for a container. Throws if a claim is not prepared. */
export function cdiDevices(pod: Pod, container: Container, prepared: PreparedClaims): string[] {
  const names = askedBy(pod, container).flatMap(({ claimName, request }) => {
    if (claimName === '') return []; // the pod's status says that no claim is needed, so there are no devices
    const record = prepared(claimName);
    if (record === undefined) {
      const where = `ResourceClaim ${claimName} in namespace ${pod.metadata.namespace}`;
      throw refusal(`internal error: unable to get claim info for ${where}`);
    }
    return devicesOf(record, request).flatMap(({ CDIDeviceIDs }) => CDIDeviceIDs ?? []);
  });
  return [...new Set(names)];
}

/** Returns the ResourceClaims that provide a container's devices. */
export function claimsOfContainer(pod: Pod, container: Container, prepared: PreparedClaims): ClaimRecord[] {
  const names = new Set(askedBy(pod, container).map(({ claimName }) => claimName));
  return [...names].flatMap((name) => prepared(name) ?? []);
}

/** Returns the health of a container's devices. Devices allocated for extended resources are omitted, as in upstream. */
export function claimHealth(
  pod: Pod,
  { resources }: Container,
  { prepared, healthOf }: { prepared: PreparedClaims; healthOf: HealthOf },
): AllocatedResourceStatus[] {
  const names = namesOf(pod);
  return (resources?.claims ?? []).flatMap((claim) => {
    const record = prepared(names.get(claim.name) ?? '');
    if (record === undefined) return [];
    const entries = devicesOf(record, baseRequest(claim)).map((device) => {
      const { driver, PoolName: pool, DeviceName: name, CDIDeviceIDs } = device;
      const resourceID = CDIDeviceIDs?.[0] ?? `${driver}/${pool}/${name}`;
      return [resourceID, { resourceID, ...healthOf(driver, { pool, device: name }) }] as const;
    });
    const byId = new Map(entries.toReversed()); // of duplicate IDs, the first entry counts
    if (byId.size === 0) return [];
    const request = claim.request === undefined || claim.request === '' ? '' : `/${claim.request}`;
    return [{ name: `claim:${claim.name}${request}`, resources: [...byId.values()].toReversed() }];
  });
}

function askedBy(pod: Pod, { name: container, resources }: Container): Asked[] {
  const wanted = resources?.claims ?? [];
  const names = wanted.length === 0 ? new Map<string, string>() : namesOf(pod);
  const named = wanted.map(({ name, request = '' }): Asked => ({ claimName: names.get(name) ?? '', request }));
  const { resourceClaimName: claimName, requestMappings = [] } = claimStatusesOf(pod).extendedResourceClaimStatus ?? {};
  if (claimName === undefined) return named;
  const isAsked = (resource: string) =>
    (isExtendedResource(resource) || resource.startsWith(DEVICE_CLASS_PREFIX)) &&
    (resources?.requests?.[resource] ?? '0') !== '0';
  const own = requestMappings.filter((one) => one.containerName === container && isAsked(one.resourceName));
  return [...named, ...own.map(({ requestName: request }) => ({ claimName, request }))];
}

/** Maps claim names in the pod spec to ResourceClaim object names. */
function namesOf(pod: Pod): Map<string, string> {
  const made = claimStatusesOf(pod).resourceClaimStatuses ?? [];
  const nameOf = ({ name, resourceClaimName }: PodResourceClaim) =>
    resourceClaimName ?? made.find((one) => one.name === name)?.resourceClaimName;
  return new Map((pod.spec.resourceClaims ?? []).map((claim) => [claim.name, nameOf(claim) ?? '']));
}

type Device = PreparedDevice & { driver: string };

function devicesOf({ DriverState }: ClaimRecord, request: string): Device[] {
  const devices = Object.entries(DriverState).flatMap(([driver, { Devices }]) =>
    (Devices ?? []).map((device) => ({ ...device, driver })),
  );
  return devices.filter(
    ({ RequestNames }) => request === '' || (RequestNames ?? []).length === 0 || RequestNames!.includes(request),
  );
}

/** Returns the request name of `request` or `request/subrequest`. */
const baseRequest = ({ request = '' }: ContainerClaim) => request.split('/')[0]!;
