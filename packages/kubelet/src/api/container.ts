import type { Lifecycle, Probe } from './probe.ts';
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

/** A key of a ConfigMap or Secret of the pod's namespace. */
export type KeySelector = { name: string; key: string; optional?: boolean };

/** A variable of an environment file that a container of the pod wrote; `path` is inside the volume. */
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

export type ResourceRequirements = { limits?: ResourceList; requests?: ResourceList };

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

/** An ordinary or an init container. `restartPolicy` is only for init containers: `Always` makes a sidecar. */
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
  restartPolicy?: 'Always';
  volumeMounts?: VolumeMount[];
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

/** True for an init container that keeps running beside the ordinary ones (a native sidecar). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}
