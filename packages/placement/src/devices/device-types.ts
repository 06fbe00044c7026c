/** A device of a plugin: `nodes` are its NUMA nodes, none if it does not say. */
export type Device = { id: string; isHealthy: boolean; nodes: number[] };

/** What a container gets with its devices, as the plugin has answered. */
export type DeviceAnswer = {
  envs: Record<string, string>;
  mounts: { containerPath: string; hostPath: string; readOnly: boolean }[];
  devices: { containerPath: string; hostPath: string; permissions: string }[];
  annotations: Record<string, string>;
  cdiDevices: { name: string }[];
};

/** What the plugins of all of a container's devices have answered. */
export type ContainerDeviceOptions = DeviceAnswer;

/** Devices of one resource that a container has: by NUMA node, -1 for those without one. */
export type Assignment = {
  podUid: string;
  container: string;
  resource: string;
  devices: Record<string, string[]>;
  /** A `ContainerAllocateResponse`, as its bytes. */
  answer: Uint8Array;
};

/** In the place of a NUMA node, for devices without any. */
export const NO_NODE = -1;

export const deviceIds = ({ devices }: Pick<Assignment, 'devices'>): string[] => [
  ...new Set(Object.values(devices).flat()),
];
