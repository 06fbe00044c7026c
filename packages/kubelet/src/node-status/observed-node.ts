import type { NodeAddress, NodeImage, NodeRuntimeHandler, NodeStatus, NodeSystemInfo } from '@podwright/kube-api';

/** What devices add to the node; those of plugins that are gone count as resources of which there are none. */
export type DeviceResources = {
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  removed: string[];
};

/** What the eviction manager says that the node is short of. */
export type Pressure = { memory: boolean; disk: boolean; pids: boolean };

/** What a kubelet sees of its host and its runtime at one time: what the status of its node is made of. */
export type ObservedNode = {
  /** Unix milliseconds. */
  atMs: number;
  /** `undefined` where they cannot be told now. */
  addresses: NodeAddress[] | undefined;
  /** A controller of the cloud tells addresses: once there are any, they are its business. */
  externalCloudProvider: boolean;
  /** `--node-ip`, for that controller; `undefined` where there is none to tell. */
  providedIps: string | undefined;
  /** Quantities, `pods` among them, without those of devices. */
  capacity: Record<string, string>;
  /** What is kept back of them. */
  reserved: Record<string, string>;
  devices: DeviceResources;
  nodeInfo: NodeSystemInfo;
  port: number;
  images: NodeImage[];
  /** Absent before the runtime has told. */
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: NodeStatus['features'];
  declaredFeatures: string[];
  pressure: Pressure;
  /** Why the node is not ready, none if it is; without what is missing of its capacity. */
  problems: string[];
  /** `undefined` before it is known which there are. */
  volumesInUse: string[] | undefined;
};
