import type { NodeAddress, NodeImage, NodeRuntimeHandler, NodeStatus, NodeSystemInfo } from '@podwright/kube-api';

/** Amounts of device plugin resources; 0 if the plugin has been removed. */
export type DeviceResources = {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
};

/** Pressure conditions, from the eviction manager. `diskDetail`: what uses the disk, for messages; '' or absent if unknown. */
export type Pressure = { memory: boolean; disk: boolean; pids: boolean; diskDetail?: string };

/** A snapshot of the host and the container runtime that the node status is computed from. */
export type ObservedNode = {
  /** Time of the snapshot, in Unix milliseconds. */
  atMs: number;
  /** The node's addresses; `undefined` if they are currently unknown. */
  addresses: NodeAddress[] | undefined;
  /** Whether a cloud controller sets the addresses. Once they are set, the kubelet leaves them unchanged. */
  externalCloudProvider: boolean;
  /** The value of the provided-node-ip annotation for the cloud controller; `undefined` if the annotation must not be set. */
  providedIps: string | undefined;
  /** Resource quantities, including `pods` but not device plugin resources. */
  capacity: Record<string, string>;
  /** Quantities subtracted from capacity to get allocatable. */
  reserved: Record<string, string>;
  devices: DeviceResources;
  nodeInfo: NodeSystemInfo;
  port: number;
  images: NodeImage[];
  /** The container runtime's handlers; absent until the runtime has reported them. */
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: NodeStatus['features'];
  declaredFeatures: string[];
  pressure: Pressure;
  /** The reasons why the node is not ready, apart from missing capacity. */
  problems: string[];
  /** The volumes in use; `undefined` while unknown. */
  volumesInUse: string[] | undefined;
};
