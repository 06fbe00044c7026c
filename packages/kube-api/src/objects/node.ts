import type { KubeObject } from './kube-object.ts';

/** v1 Node, as far as a kubelet reads and writes it; what else an API server has of it is kept. */
export type Node = KubeObject & {
  spec?: { podCIDRs?: string[]; providerID?: string; unschedulable?: boolean; taints?: Taint[] };
  status?: NodeStatus;
};

/** A pod that does not tolerate it is kept away (`NoSchedule`), if there is another place (`PreferNoSchedule`), or ended (`NoExecute`). */
export type Taint = { key: string; value?: string; effect: string; timeAdded?: string };

export type NodeStatus = {
  /** Quantities by the names of resources. */
  capacity?: Record<string, string>;
  allocatable?: Record<string, string>;
  conditions?: NodeCondition[];
  addresses?: NodeAddress[];
  /** The port's name is in capitals, as in no other place of the API. */
  daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  nodeInfo?: NodeSystemInfo;
  images?: NodeImage[];
  volumesInUse?: string[];
  /** As the controller that attaches volumes has it. */
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
  /** Given up: always ''. */
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
  /** Bytes. */
  swap?: { capacity: number };
};

export type NodeImage = { names: string[]; sizeBytes?: number };

export type NodeRuntimeHandler = {
  /** '' is the handler of pods that ask for none. */
  name: string;
  features?: { recursiveReadOnlyMounts?: boolean; userNamespaces?: boolean };
};
