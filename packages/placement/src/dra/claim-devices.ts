/** What containers have of claims that are prepared. Pure. */
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

/** What was prepared, by the name of the claim in the pod's namespace. */
export type PreparedClaims = (claimName: string) => ClaimRecord | undefined;

/** A request of a claim, '' for all of them. */
type Asked = { claimName: string; request: string };

type HealthOf = (driver: string, device: DeviceName) => DeviceHealth;

/** In the place of a resource of a plugin: one that device classes are asked for by (resource.k8s.io DeviceClass). */
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/** The devices of a container, by their names of the Container Device Interface. Throws for a claim that is not prepared. */
export function cdiDevices(pod: Pod, container: Container, prepared: PreparedClaims): string[] {
  const names = askedBy(pod, container).flatMap(({ claimName, request }) => {
    if (claimName === '') return []; // on purpose: there is nothing to have
    const record = prepared(claimName);
    if (record === undefined) {
      const where = `ResourceClaim ${claimName} in namespace ${pod.metadata.namespace}`;
      throw refusal(`internal error: unable to get claim info for ${where}`);
    }
    return devicesOf(record, request).flatMap(({ CDIDeviceIDs }) => CDIDeviceIDs ?? []);
  });
  return [...new Set(names)];
}

/** The claims that a container has devices of. */
export function claimsOfContainer(pod: Pod, container: Container, prepared: PreparedClaims): ClaimRecord[] {
  const names = new Set(askedBy(pod, container).map(({ claimName }) => claimName));
  return [...names].flatMap((name) => prepared(name) ?? []);
}

/** How the devices of a container are; of extended resources nothing is told, as with upstream. */
export function claimHealth(
  pod: Pod,
  { resources }: Container,
  { prepared, healthOf }: { prepared: PreparedClaims; healthOf: HealthOf },
): AllocatedResourceStatus[] {
  const names = namesOf(pod);
  return (resources?.claims ?? []).flatMap((claim) => {
    const record = prepared(names.get(claim.name) ?? '');
    if (record === undefined) return [];
    const told = devicesOf(record, baseRequest(claim)).map((device) => {
      const { driver, PoolName: pool, DeviceName: name, CDIDeviceIDs } = device;
      const resourceID = CDIDeviceIDs?.[0] ?? `${driver}/${pool}/${name}`;
      return [resourceID, { resourceID, ...healthOf(driver, { pool, device: name }) }] as const;
    });
    const byId = new Map(told.toReversed()); // the first of an id counts
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

/** The names of the objects that are there, by those of the pod's claims. */
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

/** Of a request and one of its alternatives, the request. */
const baseRequest = ({ request = '' }: ContainerClaim) => request.split('/')[0]!;
