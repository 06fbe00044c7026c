import type { NodeAddress, NodeImage, NodeRuntimeHandler, NodeStatus, NodeSystemInfo } from '@podwright/kube-api';

/** Resources of device plugins. Those of a removed plugin have the amount 0. */
export type DeviceResources = {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
};

/** Pressure conditions of the eviction manager. */
export type Pressure = { memory: boolean; disk: boolean; pids: boolean };

/** A snapshot of host and runtime, from which the status of the node is computed. */
export type ObservedNode = {
  /** Unix milliseconds. */
  atMs: number;
  /** `undefined` if they are currently unknown. */
  addresses: NodeAddress[] | undefined;
  /** A cloud controller sets the addresses; once it has, they are not changed. */
  externalCloudProvider: boolean;
  /** The value of the provided-node-ip annotation, for that controller; `undefined` for none. */
  providedIps: string | undefined;
  /** Quantities including `pods`, without devices. */
  capacity: Record<string, string>;
  /** Quantities to subtract for allocatable. */
  reserved: Record<string, string>;
  devices: DeviceResources;
  nodeInfo: NodeSystemInfo;
  port: number;
  images: NodeImage[];
  /** Absent until the runtime has reported them. */
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: NodeStatus['features'];
  declaredFeatures: string[];
  pressure: Pressure;
  /** Reasons why the node is not ready, except missing capacity. */
  problems: string[];
  /** `undefined` while unknown. */
  volumesInUse: string[] | undefined;
};
