import type { KubeObject } from '@podwright/kube-api';
import { AGE, age, type Column, integer, isDeleted, type KindTables, kindTable, NAME, NONE, text } from './column.ts';

type ResourceClaim = KubeObject & { status?: { allocation?: object; reservedFor?: unknown[] } };

const RESOURCE_CLAIM: Column<ResourceClaim>[] = [
  NAME,
  text('State', 'Whether devices are allocated and reserved for pods', ({ metadata, status }) => {
    const deleted = isDeleted(metadata);
    const allocated = status?.allocation ? ['allocated'] : deleted ? [] : ['pending'];
    const reserved = status?.allocation && status.reservedFor?.length ? ['reserved'] : [];
    return [...(deleted ? ['deleted'] : []), ...allocated, ...reserved].join(',');
  }),
  AGE,
];

type ResourceSlice = KubeObject & { spec: { nodeName?: string; driver?: string; pool?: { name: string } } };

const RESOURCE_SLICE: Column<ResourceSlice>[] = [
  NAME,
  text('Node', 'Node that has the devices', ({ spec }) => spec.nodeName ?? ''),
  text('Driver', 'Driver of the devices', ({ spec }) => spec.driver ?? ''),
  text('Pool', 'Pool of the devices', ({ spec }) => spec.pool?.name ?? ''),
  AGE,
];

type DeviceTaintRule = KubeObject & {
  spec: { taint: { key?: string; value?: string; effect?: string; timeAdded?: string } };
};

const DEVICE_TAINT_RULE: Column<DeviceTaintRule>[] = [
  NAME,
  text('Key', 'Key of the taint', ({ spec }) => spec.taint.key ?? ''),
  text('Value', 'Value of the taint', ({ spec }) => spec.taint.value ?? ''),
  text('Effect', 'What the taint does to pods', ({ spec }) => spec.taint.effect ?? ''),
  text('TimeAdded', 'Time since the taint was added', ({ spec: { taint } }, nowMs) =>
    taint.timeAdded ? age(taint.timeAdded, nowMs) : '',
  ),
  AGE,
];

type Pool = {
  validationError?: string;
  totalDevices?: number;
  availableDevices?: number;
  allocatedDevices?: number;
  unavailableDevices?: number;
};

type PoolStatusRequest = KubeObject & {
  spec: { driver?: string };
  status?: {
    conditions?: { type: string; status: string; lastTransitionTime?: string }[];
    poolCount?: number;
    pools?: Pool[];
  };
};

const POOL_STATUS_REQUEST: Column<PoolStatusRequest>[] = [
  NAME,
  text('Driver', 'Driver of the pools', ({ spec }) => spec.driver ?? ''),
  text(
    'Total',
    'All devices',
    sumOf(({ totalDevices }) => totalDevices),
  ),
  text(
    'Available',
    'Devices that are free',
    sumOf(({ availableDevices }) => availableDevices),
  ),
  text(
    'Allocated',
    'Devices that are in use',
    sumOf(({ allocatedDevices }) => allocatedDevices),
  ),
  text(
    'Unavailable',
    'Devices that cannot be used',
    sumOf(({ unavailableDevices }) => unavailableDevices),
  ),
  text(
    'Errors',
    'Pools that are not valid',
    sumOf(({ validationError }) => (validationError === undefined ? 0 : 1)),
  ),
  integer('Pools', 'Pools that match', ({ status }) => status?.poolCount ?? 0),
  text('Status', 'State of the request', (request) => {
    const state = endOf(request)?.type ?? 'Pending';
    const { pools = [], poolCount = 0 } = request.status ?? {};
    return state === 'Complete' && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state;
  }),
  text('Completed', 'Time since the answer', (request, nowMs) => {
    const end = endOf(request);
    return end?.type === 'Complete' ? age(end.lastTransitionTime, nowMs) : NONE;
  }),
];

const endOf = ({ status }: PoolStatusRequest) =>
  status?.conditions?.find((one) => one.status === 'True' && (one.type === 'Complete' || one.type === 'Failed'));

/**
 * Returns a cell function that sums a count over all pools of the request. The cell is `-` if the request has no status yet or has failed.
 */
function sumOf(count: (pool: Pool) => number | undefined): Column<PoolStatusRequest>['cell'] {
  return (request) => {
    if (request.status === undefined || endOf(request)?.type === 'Failed') return '-';
    return String((request.status.pools ?? []).reduce((sum, pool) => sum + (count(pool) ?? 0), 0));
  };
}

const GROUP = 'resource.k8s.io';

export const DEVICES: KindTables = {
  [`DeviceClass.${GROUP}`]: kindTable([NAME, AGE]),
  [`ResourceClaim.${GROUP}`]: kindTable(RESOURCE_CLAIM),
  [`ResourceClaimTemplate.${GROUP}`]: kindTable([NAME, AGE]),
  [`ResourceSlice.${GROUP}`]: kindTable(RESOURCE_SLICE),
  [`DeviceTaintRule.${GROUP}`]: kindTable(DEVICE_TAINT_RULE),
  [`ResourcePoolStatusRequest.${GROUP}`]: kindTable(POOL_STATUS_REQUEST),
};
