import type { Container, MountPropagation, Pod } from '@podwright/kube-api';

/** An environment variable as the runtime gets it. */
export type EnvironmentVariable = { name: string; value: string };

/** An image as a volume, as the CRI names it. */
export type MountedImage = {
  image: string;
  userSpecifiedImage: string;
  runtimeHandler: string;
  /** Those of the pod. */
  annotations: Record<string, string>;
};

/** A bind mount as the CRI wants it, without its message type. */
export type ContainerMount = {
  /** Name of the volume, or `etc-hosts` or `termination-log` for those that the kubelet adds itself. */
  name: string;
  /** '' for an image, which the runtime mounts itself. */
  hostPath: string;
  image?: MountedImage;
  /** Path inside the image, '' for all of it. */
  imageSubPath?: string;
  containerPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: MountPropagation;
  /** With SELinux its files get the label of the container: the kubelet made them. */
  relabel: boolean;
};

/** A device of the host in a container; `permissions` are those of the device cgroup, any of `rwm`. */
export type GrantedDevice = { containerPath: string; hostPath: string; permissions: string };

/** What a container was given beside what its pod says: devices, processors, memory of NUMA nodes. */
export type ContainerGrants = {
  /** Before the container's own variables, which win. */
  environment: EnvironmentVariable[];
  mounts: ContainerMount[];
  devices: GrantedDevice[];
  /** For the runtime; those of the kubelet win. */
  annotations: Record<string, string>;
  /** Fully qualified names of CDI devices. */
  cdiDevices: string[];
  /** Processors and NUMA nodes that it is held to, as `0,2-3`; '' for any. */
  cpus: string;
  memoryNodes: string;
  /** Nobody else has these processors: it may use them in full. */
  hasOwnCpus: boolean;
};

/** What a container is started with: everything expanded, every mount in its place. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
  /** Block volumes; absent if it has none. */
  devices?: GrantedDevice[];
  /** Absent if it was given nothing. */
  grants?: ContainerGrants;
};

/** What a container is prepared for. */
export type PrepareRequest = {
  pod: Pod;
  container: Container;
  podIps: string[];
  /** The images of the pod's volumes that the container mounts, by the volume's name. */
  volumeImages: ReadonlyMap<string, MountedImage>;
  /** Whether mounts below a mount can be made read-only with it. */
  recursiveReadOnly: boolean;
};
