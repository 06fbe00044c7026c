import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { Container, Volume, VolumeMount } from '@podwright/kube-api';
import { expand } from './expansion.ts';
import type { ContainerMount, EnvironmentVariable, PrepareRequest } from './prepared-container.ts';

/** A container mount whose host path has not been resolved yet. */
export type WantedMount = Omit<ContainerMount, 'hostPath' | 'image' | 'imageSubPath'> & {
  /** The expanded `subPath` or `subPathExpr`; '' to mount the whole volume. */
  subPath: string;
  /** Index of the mount in the container's volumeMounts. */
  index: number;
};

export type MountsInput = Pick<PrepareRequest, 'pod' | 'container' | 'recursiveReadOnly'> & {
  environment: EnvironmentVariable[];
};

/**
 * Resolves the container's volumeMounts. Throws `failed_precondition` if a subPathExpr cannot be expanded or the container runtime does not
 * support a requested recursive read-only mount.
 */
export function wantedMounts({ pod, container, environment, recursiveReadOnly }: MountsInput): WantedMount[] {
  const variables = new Map(environment.map(({ name, value }) => [name, value]));
  return (container.volumeMounts ?? []).map((mount, index) => {
    const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
    return {
      name: mount.name,
      containerPath: absolutePath(mount.mountPath),
      readonly: mount.readOnly === true || (volume !== undefined && isReadOnly(volume)),
      recursiveReadOnly: isRecursive(mount, recursiveReadOnly),
      propagation: mount.mountPropagation ?? 'None',
      relabel: [volume?.hostPath, volume?.image, volume?.nfs].every((source) => source === undefined),
      subPath: subPath(mount, variables),
      index,
    };
  });
}

/**
 * Whether a volume is mounted read-only. Images and volumes filled by the kubelet are always read-only; others only if the pod requests it.
 */
function isReadOnly({ configMap, secret, downwardAPI, projected, image, ...others }: Volume): boolean {
  if ([others.nfs, others.persistentVolumeClaim, others.csi].some((source) => source?.readOnly === true)) return true;
  return [configMap, secret, downwardAPI, projected, image].some((source) => source !== undefined);
}

/** Whether the container requests a recursive read-only mount, be it required (Enabled) or optional (IfPossible). */
export function needsRecursiveReadOnly({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.some(({ recursiveReadOnly = 'Disabled' }) => recursiveReadOnly !== 'Disabled');
}

function isRecursive({ name, recursiveReadOnly = 'Disabled' }: VolumeMount, supported: boolean): boolean {
  if (recursiveReadOnly !== 'Enabled' || supported) return recursiveReadOnly !== 'Disabled' && supported;
  throw new PodwrightError(
    'failed_precondition',
    `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode, but it is not supported by the runtime`,
  );
}

/** Makes a container path absolute. As in upstream, a path without a leading slash is relative to the root directory. */
export function absolutePath(path: string): string {
  return posix.resolve('/', path);
}

function subPath(mount: VolumeMount, variables: Map<string, string>): string {
  const expression = mount.subPathExpr ?? '';
  if (expression === '') return mount.subPath ?? '';
  const unknown = new Set<string>();
  const expanded = expand(expression, (name) => {
    const value = variables.get(name);
    // an empty variable counts as unknown, because it would change the path, possibly to the volume's root
    if (value === undefined || value === '') unknown.add(name);
    return value;
  });
  // from here on, error messages match upstream's
  const refuse = (why: string) => new PodwrightError('failed_precondition', why);
  if (unknown.size > 0) throw refuse(`missing value for ${[...unknown].sort().join(', ')}`);
  if (expanded.startsWith('/')) throw refuse(`error SubPath \`${expanded}\` must not be an absolute path`);
  if (expanded.split('/').includes('..'))
    throw refuse(`unable to provision SubPath \`${expanded}\`: must not contain '..'`);
  return expanded;
}
