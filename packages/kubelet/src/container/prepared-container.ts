import type { Container, MountPropagation, Pod } from '@podwright/kube-api';

/** A fully expanded environment variable. */
export type EnvironmentVariable = { name: string; value: string };

/** An image to mount as a volume, with the fields of the CRI's ImageSpec. */
export type MountedImage = {
  image: string;
  userSpecifiedImage: string;
  runtimeHandler: string;
  /** The annotations of the pod that mounts the image. */
  annotations: Record<string, string>;
};

/** A bind mount, as a plain object with the fields of the CRI's Mount. */
export type ContainerMount = {
  /** The volume's name, or `etc-hosts` or `termination-log` for the kubelet's own mounts. */
  name: string;
  /** The path on the host; '' if the mount is an image, which the container runtime mounts itself. */
  hostPath: string;
  image?: MountedImage;
  /** The path inside the image; '' for the whole image. */
  imageSubPath?: string;
  containerPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: MountPropagation;
  /**
   * Whether the container runtime should apply the container's SELinux label to the files. False for volumes whose files the kubelet does
   * not own.
   */
  relabel: boolean;
};

/** A host device made available in a container. `permissions` are device cgroup permissions: any of `rwm`. */
export type GrantedDevice = { containerPath: string; hostPath: string; permissions: string };

/** Resources assigned to a container by the kubelet's managers: devices, exclusive CPUs and NUMA memory. */
export type ContainerGrants = {
  /** Environment variables from device plugins. The container's own variables override them. */
  environment: EnvironmentVariable[];
  mounts: ContainerMount[];
  devices: GrantedDevice[];
  /** CRI annotations to add to the container. Annotations reserved for the kubelet are ignored. */
  annotations: Record<string, string>;
  /** Fully qualified names of CDI devices. */
  cdiDevices: string[];
  /** CPUs and NUMA nodes that the container is restricted to, as cpuset lists such as `0,2-3`; '' for no restriction. */
  cpus: string;
  memoryNodes: string;
  /** Whether the CPUs are exclusive to this container, in which case it gets no CFS quota. */
  hasOwnCpus: boolean;
};

/** A container ready for CreateContainer: its environment variables are expanded, and every mount has a host path. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
  /** Block volumes; absent if the container has none. */
  devices?: GrantedDevice[];
  /** Resources assigned by the kubelet's managers; absent if there are none. */
  grants?: ContainerGrants;
};

/** The container to prepare and its pod's state. */
export type PrepareRequest = {
  pod: Pod;
  container: Container;
  podIps: string[];
  /** The images that the container mounts as image volumes, by volume name. */
  volumeImages: ReadonlyMap<string, MountedImage>;
  /** Whether the container runtime supports recursive read-only mounts. */
  recursiveReadOnly: boolean;
};
