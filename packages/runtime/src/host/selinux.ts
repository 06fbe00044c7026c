import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { runProgram } from '@podwright/host';
import { parseSelinuxContexts, type SelinuxContexts } from '@podwright/oci';

/** The file that names the active SELinux policy. */
const CONFIGURATION = '/etc/selinux/config';
/** File with the SELinux contexts for containers. If it does not exist, the one in the policy's directory is used. */
const SHARED_CONTEXTS = '/usr/share/containers/selinux/contexts';
/** Directories that are never relabeled, because the host would lose access to its own files. */
const PROTECTED_DIRECTORIES =
  '/ /bin /boot /dev /etc /home /lib /lib64 /media /opt /proc /root /run /sbin /srv /sys /tmp /usr /var /var/lib /var/log';
const RELABEL_TIMEOUT_MS = 100_000;

/** Reads the container contexts of the host's SELinux policy; they are '' if SELinux is off. */
export async function readSelinuxContexts(enabled: boolean): Promise<SelinuxContexts> {
  if (!enabled) return { process: '', file: '' };
  const configuration = await readFile(CONFIGURATION, 'utf8').catch(() => '');
  const policy = /^SELINUXTYPE=(\S+)/m.exec(configuration)?.[1] ?? 'targeted';
  const own = join('/etc/selinux', policy, 'contexts/lxc_contexts');
  const text = await readFile(SHARED_CONTEXTS, 'utf8').catch(() => readFile(own, 'utf8').catch(() => ''));
  return parseSelinuxContexts(text);
}

/**
 * Relabels a path recursively, so that a container may use it. No-op if the label is '' or the file system does not support labels. Throws
 * `invalid_argument` for directories that the host itself needs.
 */
export async function relabel(path: string, label: string): Promise<void> {
  if (label === '') return;
  if (PROTECTED_DIRECTORIES.split(' ').includes(path)) {
    throw new PodwrightError(
      'invalid_argument',
      `give ${path} the SELinux label of a container: the host needs its own`,
    );
  }
  const signal = AbortSignal.timeout(RELABEL_TIMEOUT_MS);
  const { exitCode, stderr } = await runProgram('chcon', ['--recursive', '--', label, path], { signal });
  if (exitCode === 0 || /not supported/i.test(stderr)) return;
  throw new PodwrightError('internal', `give ${path} the SELinux label ${label}: ${stderr.trim().slice(0, 500)}`);
}
