import type { Container, MountPropagation, Pod } from '@podwright/kube-api';

/** An environment variable, fully expanded. */
export type EnvironmentVariable = { name: string; value: string };

/** An image to mount as a volume, with the fields of the CRI's ImageSpec. */
export type MountedImage = {
  image: string;
  userSpecifiedImage: string;
  runtimeHandler: string;
  /** Annotations of the pod. */
  annotations: Record<string, string>;
};

/** A bind mount with the fields of the CRI's Mount, but not its message type. */
export type ContainerMount = {
  /** Name of the volume, or `etc-hosts` or `termination-log` for mounts that the kubelet adds. */
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
  /** With SELinux, the runtime gives the files the label of the container: they are the kubelet's. */
  relabel: boolean;
};

/** A device of the host in a container; `permissions` are those of the device cgroup, any of `rwm`. */
export type GrantedDevice = { containerPath: string; hostPath: string; permissions: string };

/** Resources that the kubelet's managers assigned to a container: devices, exclusive CPUs, NUMA memory. */
export type ContainerGrants = {
  /** Set before the container's own variables, which override these. */
  environment: EnvironmentVariable[];
  mounts: ContainerMount[];
  devices: GrantedDevice[];
  /** CRI annotations; the kubelet ignores those that only it may set. */
  annotations: Record<string, string>;
  /** Fully qualified names of CDI devices. */
  cdiDevices: string[];
  /** CPUs and NUMA nodes that the container is restricted to (cpuset lists, `0,2-3`); '' for any. */
  cpus: string;
  memoryNodes: string;
  /** The CPUs are exclusive to this container, so it gets no CFS quota. */
  hasOwnCpus: boolean;
};

/** A container ready for CreateContainer: variables are expanded and every mount has its host path. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
  /** Block volumes; absent if it has none. */
  devices?: GrantedDevice[];
  /** Absent if nothing was assigned to the container. */
  grants?: ContainerGrants;
};

/** The container to prepare, and the state of its pod. */
export type PrepareRequest = {
  pod: Pod;
  container: Container;
  podIps: string[];
  /** The images of the pod's volumes that the container mounts, by the volume's name. */
  volumeImages: ReadonlyMap<string, MountedImage>;
  /** Whether the runtime supports recursive read-only mounts. */
  recursiveReadOnly: boolean;
};
