import type { Container, MountPropagation, Pod } from '@podwright/kube-api';

/** An environment variable, fully expanded. */
export type EnvironmentVariable = { name: string; value: string };

/** An image to mount as a volume, with the fields of the CRI's ImageSpec. */
export type MountedImage = {
  image: string;
  userSpecifiedImage: string;
  runtimeHandler: string;
  /** The pod's annotations. */
  annotations: Record<string, string>;
};

/** A bind mount with the fields of the CRI's Mount, as a plain object. */
export type ContainerMount = {
  /** The volume's name; `etc-hosts` or `termination-log` for the kubelet's own mounts. */
  name: string;
  /** '' for an image, which the runtime mounts itself. */
  hostPath: string;
  image?: MountedImage;
  /** Path inside the image; '' for the whole image. */
  imageSubPath?: string;
  containerPath: string;
  readonly: boolean;
  recursiveReadOnly: boolean;
  propagation: MountPropagation;
  /** Whether the runtime sets the container's SELinux label on the files, because the kubelet owns them. */
  relabel: boolean;
};

/** A host device in a container; `permissions` are device cgroup permissions, any of `rwm`. */
export type GrantedDevice = { containerPath: string; hostPath: string; permissions: string };

/** Resources that the kubelet's managers have assigned to a container: devices, exclusive CPUs, NUMA memory. */
export type ContainerGrants = {
  /** Variables of device plugins; the container's own variables override them. */
  environment: EnvironmentVariable[];
  mounts: ContainerMount[];
  devices: GrantedDevice[];
  /** CRI annotations; those that only the kubelet may set are ignored. */
  annotations: Record<string, string>;
  /** Fully qualified names of CDI devices. */
  cdiDevices: string[];
  /** CPUs and NUMA nodes to which the container is restricted, as cpuset lists such as `0,2-3`; '' for no restriction. */
  cpus: string;
  memoryNodes: string;
  /** Whether the CPUs are exclusive to this container, so that it gets no CFS quota. */
  hasOwnCpus: boolean;
};

/** A container ready for CreateContainer: its variables are expanded, and every mount has its host path. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
  /** Block volumes; absent if it has none. */
  devices?: GrantedDevice[];
  /** Absent if no resources are assigned to the container. */
  grants?: ContainerGrants;
};

/** The container to prepare, and the state of its pod. */
export type PrepareRequest = {
  pod: Pod;
  container: Container;
  podIps: string[];
  /** The images that the container mounts as volumes, by volume name. */
  volumeImages: ReadonlyMap<string, MountedImage>;
  /** Whether the runtime supports recursive read-only mounts. */
  recursiveReadOnly: boolean;
};
