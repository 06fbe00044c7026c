import type { KubeObject } from './kube-object.ts';

/** v1 Node, with the fields read or written by a kubelet. Unknown fields are preserved. */
export type Node = KubeObject & {
  spec?: { podCIDRs?: string[]; providerID?: string; unschedulable?: boolean; taints?: Taint[] };
  status?: NodeStatus;
};

/**
 * Keeps pods that do not tolerate the taint from being scheduled here (`NoSchedule`, or `PreferNoSchedule` if possible), or evicts them
 * (`NoExecute`).
 */
export type Taint = { key: string; value?: string; effect: string; timeAdded?: string };

export type NodeStatus = {
  /** Quantities by resource name. */
  capacity?: Record<string, string>;
  allocatable?: Record<string, string>;
  conditions?: NodeCondition[];
  addresses?: NodeAddress[];
  /** `Port` is capitalized in the API. */
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  nodeInfo?: NodeSystemInfo;
  images?: NodeImage[];
  volumesInUse?: string[];
  /** Written by the attach/detach controller. */
  volumesAttached?: { name: string }[];
  runtimeHandlers?: NodeRuntimeHandler[];
  features?: { supplementalGroupsPolicy?: boolean };
  declaredFeatures?: string[];
};

export type NodeCondition = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type NodeAddress = {
  type: 'InternalIP' | 'Hostname' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
  address: string;
};

export type NodeSystemInfo = {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  /** Deprecated; always ''. */
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
  /** Swap capacity in bytes. */
  swap?: { capacity: number };
};

export type NodeImage = { names: string[]; sizeBytes?: number };

export type NodeRuntimeHandler = {
  /** Name of the runtime handler; '' is the default handler. */
  name: string;
  features?: { recursiveReadOnlyMounts?: boolean; userNamespaces?: boolean };
};
