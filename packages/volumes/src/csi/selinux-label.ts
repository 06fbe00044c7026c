/** Labels of SELinux that volumes are mounted with, so that nobody need give them to each file (KEP-1710). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { type CsiDriver, everyContainer, type Pod, type SeLinuxOptions } from '@podwright/kube-api';
import { isOfOnePod } from '../volumes/one-pod.ts';
import type { CsiVolume } from './csi-volume.ts';

/** A host with SELinux. */
export interface SeLinuxHost {
  /** The label of files for processes with these options; undefined where they leave open which. */
  fileLabel(options: SeLinuxOptions): string | undefined;
}

/** What the containers that mount a volume of the pod ask for; those that ask for nothing are left out. */
export function labelsFor({ spec }: Pod, volumeName: string): SeLinuxOptions[] {
  return everyContainer(spec)
    .filter(({ volumeMounts = [] }) => volumeMounts.some(({ name }) => name === volumeName))
    .flatMap(({ securityContext }) => securityContext?.seLinuxOptions ?? spec.securityContext?.seLinuxOptions ?? []);
}

/**
 * The label of all files of a volume that one pod alone may have, if its driver can mount it so. Throws upstream's words where the
 * pod's containers ask for several.
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

/** By its policy's labels of containers' files; undefined for a host without SELinux. `root` is that of the host. */
export function seLinuxHost(root = '/'): SeLinuxHost | undefined {
  if (!existsSync(join(root, 'sys/fs/selinux/enforce'))) return undefined;
  const read = (path: string) => {
    const file = join(root, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const policy = /^SELINUXTYPE\s*=\s*(\S+)/m.exec(read('etc/selinux/config') ?? '')?.[1] ?? 'targeted';
  // the runtime reads the same, in this order
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
