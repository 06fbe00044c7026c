import { posix } from 'node:path';
import { PodwrightError } from '@podwright/base';
import type { Container, Pod, Volume, VolumeMount } from '../api/types.ts';
import { expand } from './expansion.ts';
import type { ContainerMount, EnvironmentVariable } from './prepared-container.ts';

/** A mount of the container whose place on the host is still to be found. */
export type WantedMount = Omit<ContainerMount, 'hostPath'> & {
  /** Path inside the volume, expanded; '' for all of it. */
  subPath: string;
  /** Position among the container's volumeMounts. */
  index: number;
};

/** What the container's volumeMounts ask for. Throws `failed_precondition` for a subPathExpr that cannot be expanded. */
export function wantedMounts(pod: Pod, container: Container, environment: EnvironmentVariable[]): WantedMount[] {
  const variables = new Map(environment.map(({ name, value }) => [name, value]));
  return (container.volumeMounts ?? []).map((mount, index) => {
    const volume = pod.spec.volumes?.find(({ name }) => name === mount.name);
    return {
      name: mount.name,
      containerPath: absolutePath(mount.mountPath),
      readonly: mount.readOnly === true || (volume !== undefined && isWrittenByNode(volume)),
      recursiveReadOnly: mount.recursiveReadOnly === 'Enabled',
      propagation: mount.mountPropagation ?? 'None',
      subPath: subPath(mount, variables),
      index,
    };
  });
}

/** Volumes whose content is the node's are never written by containers. */
function isWrittenByNode(volume: Volume): boolean {
  return [volume.configMap, volume.secret, volume.downwardAPI, volume.projected].some((source) => source !== undefined);
}

/** A mount path without a leading slash counts from the root, as in the kubelet. */
function absolutePath(path: string): string {
  return posix.resolve('/', path);
}

function subPath(mount: VolumeMount, variables: Map<string, string>): string {
  const expression = mount.subPathExpr ?? '';
  if (expression === '') return mount.subPath ?? '';
  const unknown: string[] = [];
  const expanded = expand(expression, (name) => {
    const value = variables.get(name);
    if (value === undefined) unknown.push(name);
    return value;
  });
  const refuse = (why: string) =>
    new PodwrightError('failed_precondition', `subPathExpr "${expression}" of volume "${mount.name}": ${why}`);
  if (unknown.length > 0) throw refuse(`there is no variable ${unknown.join(', ')}`);
  if (expanded.startsWith('/') || expanded.split('/').includes('..'))
    throw refuse(`"${expanded}" leads out of the volume`);
  return expanded;
}
