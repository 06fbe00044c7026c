import type { MountPropagation } from '../api/types.ts';

/** An environment variable as the runtime gets it. */
export type EnvironmentVariable = { name: string; value: string };

/** A bind mount as the CRI wants it, without its message type. */
export type ContainerMount = {
  /** Name of the volume, or `etc-hosts` or `termination-log` for those that the kubelet adds itself. */
  name: string;
  hostPath: string;
  containerPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: MountPropagation;
};
