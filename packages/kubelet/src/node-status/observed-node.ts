import type { NodeAddress, NodeImage, NodeRuntimeHandler, NodeStatus, NodeSystemInfo } from '@podwright/kube-api';

/** Amounts of device plugins' resources. A resource whose plugin was removed has the amount 0. */
export type DeviceResources = {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
};

/** Pressure conditions, from the eviction manager. */
export type Pressure = { memory: boolean; disk: boolean; pids: boolean };

/** A snapshot of the host and the runtime, from which the node's status is computed. */
export type ObservedNode = {
  /** Time of the snapshot, in Unix milliseconds. */
  atMs: number;
  /** The node's addresses; `undefined` if they are currently unknown. */
  addresses: NodeAddress[] | undefined;
  /** Whether a cloud controller sets the addresses; once it has, they are not changed. */
  externalCloudProvider: boolean;
  /** The value of the provided-node-ip annotation for the cloud controller; `undefined` for no annotation. */
  providedIps: string | undefined;
  /** Quantities including `pods`, without devices. */
  capacity: Record<string, string>;
  /** Quantities that are subtracted for allocatable. */
  reserved: Record<string, string>;
  devices: DeviceResources;
  nodeInfo: NodeSystemInfo;
  port: number;
  images: NodeImage[];
  /** The runtime's handlers; absent until the runtime has reported them. */
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: NodeStatus['features'];
  declaredFeatures: string[];
  pressure: Pressure;
  /** Why the node is not ready, apart from missing capacity. */
  problems: string[];
  /** The volumes in use; `undefined` while unknown. */
  volumesInUse: string[] | undefined;
};
