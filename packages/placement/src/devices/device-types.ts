/** A device offered by a plugin. `nodes`: its NUMA nodes; empty if it has no NUMA affinity. */
export type Device = { id: string; isHealthy: boolean; nodes: number[] };

/** Container options from one plugin's Allocate response. */
export type DeviceAnswer = {
  envs: Record<string, string>;
  mounts: { containerPath: string; hostPath: string; readOnly: boolean }[];
  devices: { containerPath: string; hostPath: string; permissions: string }[];
  annotations: Record<string, string>;
  cdiDevices: { name: string }[];
};

/** Container options merged from all plugins' Allocate responses. */
export type ContainerDeviceOptions = DeviceAnswer;

/** A container's devices of one resource. `devices` maps NUMA nodes to device IDs; devices without NUMA affinity are listed under -1. */
export type Assignment = {
  podUid: string;
  container: string;
  resource: string;
  devices: Record<string, string[]>;
  /** The encoded `ContainerAllocateResponse`. */
  answer: Uint8Array;
};

/** Key for devices without NUMA affinity. */
export const NO_NODE = -1;

export const deviceIds = ({ devices }: Pick<Assignment, 'devices'>): string[] => [
  ...new Set(Object.values(devices).flat()),
];
