import type { Lifecycle, Probe } from './probe.ts';
import type { ContainerClaim } from './resource-claim.ts';
import type { SecurityContext } from './security-context.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from './volume.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export type ContainerPort = {
  name?: string;
  containerPort: number;
  hostPort?: number;
  hostIP?: string;
  protocol?: Protocol;
};

/** A key of a ConfigMap or Secret in the pod's namespace. */
export type KeySelector = { name: string; key: string; optional?: boolean };

/** Refers to a variable in an environment file written by one of the pod's containers. `path` is relative to the volume. */
export type FileKeySelector = { volumeName: string; path: string; key: string; optional?: boolean };

/** The source of an environment variable's value. Exactly one field is set. */
export type EnvVarSource = {
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  configMapKeyRef?: KeySelector;
  secretKeyRef?: KeySelector;
  fileKeyRef?: FileKeySelector;
};

export type EnvVar = { name: string; value?: string; valueFrom?: EnvVarSource };

export type EnvSourceReference = { name: string; optional?: boolean };

/** Exposes all keys of a ConfigMap or Secret as environment variables. Exactly one of the two references is set. */
export type EnvFromSource = { prefix?: string; configMapRef?: EnvSourceReference; secretRef?: EnvSourceReference };

/** Maps resource names (`cpu`, `memory`, `ephemeral-storage`, `hugepages-2Mi`) to quantities as parsed by `parseQuantity`. */
export type ResourceList = Record<string, string>;

export type ResourceRequirements = { limits?: ResourceList; requests?: ResourceList; claims?: ContainerClaim[] };

export type MountPropagation = 'None' | 'HostToContainer' | 'Bidirectional';

export type VolumeMount = {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  recursiveReadOnly?: 'Disabled' | 'IfPossible' | 'Enabled';
  subPath?: string;
  subPathExpr?: string;
  mountPropagation?: MountPropagation;
};

/** A raw block volume exposed to the container as a device. */
export type VolumeDevice = { name: string; devicePath: string };

/** A restart rule based on the exit code. The first matching rule overrides `restartPolicy`. */
export type ContainerRestartRule = {
  /** `RestartAllContainers` restarts the pod in its sandbox, starting with the init containers. */
  action: 'Restart' | 'RestartAllContainers';
  exitCodes: { operator: 'In' | 'NotIn'; values?: number[] };
};

/** Whether resizing the resource restarts the container. Without a policy, it does not. */
export type ContainerResizePolicy = {
  resourceName: 'cpu' | 'memory';
  restartPolicy: 'NotRequired' | 'RestartContainer';
};

/**
 * A regular container or an init container. `restartPolicy` overrides the pod's; an init container whose policy is `Always` is a sidecar.
 */
export type Container = {
  name: string;
  image: string;
  imagePullPolicy?: PullPolicy;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  resources?: ResourceRequirements;
  resizePolicy?: ContainerResizePolicy[];
  restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  restartPolicyRules?: ContainerRestartRule[];
  volumeMounts?: VolumeMount[];
  /** Block devices of the container. Set only in pods from an API server. */
  volumeDevices?: VolumeDevice[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: Lifecycle;
  terminationMessagePath?: string;
  terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  securityContext?: SecurityContext;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
};

/**
 * A container added by a user to a running pod for debugging. It is started once and never restarted. If `targetContainerName` is set, it
 * shares that container's process namespace.
 */
export type EphemeralContainer = Container & { targetContainerName?: string };

/**
 * Whether an init container is a native sidecar, which keeps running alongside the regular containers. Must not be called with other
 * containers.
 */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
