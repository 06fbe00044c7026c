import { posix } from 'node:path';
import { type Container, everyContainer, type Pod } from '@podwright/kube-api';

/**
 * Returns the mount points of other volumes inside this one, as paths relative to it. Mount points nested inside one of these are omitted.
 * The volume's plugin must create the directories, because the container runtime cannot do so in a read-only volume.
 */
export function nestedMountPoints({ spec }: Pod, volumeName: string): string[] {
  return [...new Set(everyContainer(spec).flatMap((container) => pointsOf(container, volumeName)))];
}

function pointsOf({ volumeMounts = [] }: Container, volumeName: string): string[] {
  const paths = volumeMounts.map(({ mountPath }) => posix.resolve('/', mountPath)).sort();
  const own = volumeMounts.filter(({ name }) => name === volumeName);
  return own.flatMap(({ mountPath }) => {
    const around = posix.resolve('/', mountPath);
    const inside = paths.filter((path) => path !== around && isBelow(path, around));
    return inside
      .filter((path) => !inside.some((other) => other !== path && isBelow(path, other)))
      .map((path) => posix.relative(around, path));
  });
}

function isBelow(path: string, around: string): boolean {
  return path.startsWith(around === '/' ? '/' : `${around}/`);
}
