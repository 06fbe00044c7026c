import type { Container, MountPropagation, Pod } from '../api/types.ts';

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

/** What a container is started with: everything expanded, every mount in its place. */
export type PreparedContainer = {
  environment: EnvironmentVariable[];
  command: string[];
  args: string[];
  mounts: ContainerMount[];
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
