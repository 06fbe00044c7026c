/** A device of a plugin; `nodes` are its NUMA nodes, empty if the plugin does not report any. */
export type Device = { id: string; isHealthy: boolean; nodes: number[] };

/** Container options from one plugin's Allocate answer. */
export type DeviceAnswer = {
  envs: Record<string, string>;
  mounts: { containerPath: string; hostPath: string; readOnly: boolean }[];
  devices: { containerPath: string; hostPath: string; permissions: string }[];
  annotations: Record<string, string>;
  cdiDevices: { name: string }[];
};

/** Container options merged from all plugins' Allocate answers. */
export type ContainerDeviceOptions = DeviceAnswer;

/** The container's devices of one resource. `devices` holds IDs by NUMA node, with -1 for devices without a node. */
export type Assignment = {
  podUid: string;
  container: string;
  resource: string;
  devices: Record<string, string[]>;
  /** The encoded `ContainerAllocateResponse`. */
  answer: Uint8Array;
};

/** Node key for devices without a NUMA node. */
export const NO_NODE = -1;

export const deviceIds = ({ devices }: Pick<Assignment, 'devices'>): string[] => [
  ...new Set(Object.values(devices).flat()),
];
