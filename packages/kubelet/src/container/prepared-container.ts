import type { Container, MountPropagation, Pod } from '../api/types.ts';

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

/** What a container is started with: everything expanded, every mount in its place. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
};

/** What a container is prepared for. */
export type PrepareRequest = { pod: Pod; container: Container; podIps: string[] };
