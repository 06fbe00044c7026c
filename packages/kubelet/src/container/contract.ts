import type { Container, MountPropagation, Pod } from '../api/types.ts';
import type { ObjectLookup } from '../config/local-objects.ts';

/** An environment variable as the runtime gets it. */
export type EnvironmentVariable = { name: string; value: string };

/** Something that people should hear of as an event of the pod, though the container starts all the same. */
export type ContainerWarning = { reason: string; message: string };

/** What the environment of a container is made from. Addresses are those of the sandbox and of the node, primary first. */
export type EnvironmentInput = {
  pod: Pod;
  container: Container;
  podIps: string[];
  hostIps: string[];
  nodeName: string;
  objects: ObjectLookup;
  /** Stands in for limits that the container does not set. */
  nodeAllocatable: { cpuMillis: bigint; memoryBytes: bigint; ephemeralStorageBytes: bigint };
};

/** The environment in order, one entry a name, values expanded. */
export type Environment = { variables: EnvironmentVariable[]; warnings: ContainerWarning[] };

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
