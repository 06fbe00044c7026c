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

/** A variable of an environment file that a container of the pod has written; `path` is relative to the volume. */
export type FileKeySelector = { volumeName: string; path: string; key: string; optional?: boolean };

/** Exactly one is set. */
export type EnvVarSource = {
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  configMapKeyRef?: KeySelector;
  secretKeyRef?: KeySelector;
  fileKeyRef?: FileKeySelector;
};

export type EnvVar = { name: string; value?: string; valueFrom?: EnvVarSource };

export type EnvSourceReference = { name: string; optional?: boolean };

/** Every key of one ConfigMap or Secret; exactly one of the two is set. */
export type EnvFromSource = { prefix?: string; configMapRef?: EnvSourceReference; secretRef?: EnvSourceReference };

/** Resource name (`cpu`, `memory`, `ephemeral-storage`, `hugepages-2Mi`) to quantity, for `parseQuantity`. */
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

/** A raw block volume that the container gets as a device. */
export type VolumeDevice = { name: string; devicePath: string };

/** A rule by exit code; the first matching one takes precedence over `restartPolicy`. */
export type ContainerRestartRule = {
  /** `RestartAllContainers` restarts the pod in its sandbox, starting with the init containers. */
  action: 'Restart' | 'RestartAllContainers';
  exitCodes: { operator: 'In' | 'NotIn'; values?: number[] };
};

/** Whether the container is restarted when the resource is resized. Without a policy it is not. */
export type ContainerResizePolicy = {
  resourceName: 'cpu' | 'memory';
  restartPolicy: 'NotRequired' | 'RestartContainer';
};

/** An ordinary or an init container. `restartPolicy` overrides the pod's; with `Always` an init container is a sidecar. */
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
  /** Set only in pods from an API server. */
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
 * A container that users add to a running pod for debugging. It is started once, and never restarted. With `targetContainerName`
 * it sees the processes of that container.
 */
export type EphemeralContainer = Container & { targetContainerName?: string };

/** Whether an init container keeps running next to the ordinary ones (a native sidecar). Expects an init container. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
