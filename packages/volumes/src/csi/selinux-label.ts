/** SELinux labels for mounting volumes, which avoids relabeling each file (KEP-1710). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type CsiDriver, everyContainer, type Pod, type SeLinuxOptions } from '@podwright/kube-api';
import { isOfOnePod } from '../volumes/one-pod.ts';
import type { CsiVolume } from './csi-volume.ts';

/** The SELinux policy of a host with SELinux. */
export interface SeLinuxHost {
  /** Returns the file label for processes with these SELinux options; `undefined` if the options do not determine it. */
  fileLabel(options: SeLinuxOptions): string | undefined;
}

/** Returns the SELinux options of the containers that mount the volume, omitting containers without any. */
export function labelsFor({ spec }: Pod, volumeName: string): SeLinuxOptions[] {
  return everyContainer(spec)
    .filter(({ volumeMounts = [] }) => volumeMounts.some(({ name }) => name === volumeName))
    .flatMap(({ securityContext }) => securityContext?.seLinuxOptions ?? spec.securityContext?.seLinuxOptions ?? []);
}

/**
 * Returns the SELinux label to mount the volume with; `undefined` unless the volume is limited to one pod and its driver supports the mount
 * option. Throws with upstream's message if the pod's containers have different labels.
 */
export function mountLabel(
  { accessModes, labels = [] }: CsiVolume,
  { pod, driver, host }: { pod: Pod; driver: CsiDriver | undefined; host: SeLinuxHost | undefined },
): string | undefined {
  if (host === undefined || !isOfOnePod({ accessModes }) || driver?.spec.seLinuxMount !== true) return undefined;
  const wanted = [...new Set(labels.map((options) => host.fileLabel(options)))].filter((one) => one !== undefined);
  if (wanted.length > 1)
    throw new PodwrightError('failed_precondition', `multiple SELinux labels found: ${wanted.join(',')}`);
  return pod.spec.securityContext?.seLinuxChangePolicy === 'Recursive' ? undefined : wanted[0];
}

/** Reads the host's policy for the labels of container files; `undefined` on a host without SELinux. `root`: the host's root directory. */
export function seLinuxHost(root = '/'): SeLinuxHost | undefined {
  if (!existsSync(join(root, 'sys/fs/selinux/enforce'))) return undefined;
  const read = (path: string) => {
    const file = join(root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const policy = /^SELINUXTYPE\s*=\s*(\S+)/m.exec(read('etc/selinux/config') ?? '')?.[1] ?? 'targeted';
  // files with the policy's container labels, in the order in which the container runtime looks for them
  const contexts =
    read('usr/share/containers/selinux/contexts') ?? read(join('etc/selinux', policy, 'contexts/lxc_contexts')) ?? '';
  const file = /^\s*file\s*=\s*"([^"]*)"/m.exec(contexts)?.[1];
  const [user, role, type] = file?.split(':') ?? [];
  return {
    fileLabel: (options) =>
      type === undefined || (options.level ?? '') === ''
        ? undefined
        : [options.user || user, role, type, options.level].join(':'),
  };
}
