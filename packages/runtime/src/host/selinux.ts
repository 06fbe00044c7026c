import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError, runProgram } from '@podwright/base';
import { parseSelinuxContexts, type SelinuxContexts } from '../oci/selinux.ts';

/** Where policies are; the file that names the one in use, and those that may have contexts for containers. */
const CONFIGURATION = '/etc/selinux/config';
const SHARED_CONTEXTS = '/usr/share/containers/selinux/contexts';
/** Directories that everything on the host needs: giving their files to a container would break it. */
const PROTECTED_DIRECTORIES =
  '/ /bin /boot /dev /etc /home /lib /lib64 /media /opt /proc /root /run /sbin /srv /sys /tmp /usr /var /var/lib /var/log';
const RELABEL_TIMEOUT_MS = 100_000;

/** The contexts that the host's policy has for containers; none where SELinux is off. */
export async function readSelinuxContexts(enabled: boolean): Promise<SelinuxContexts> {
  if (!enabled) return { process: '', file: '' };
  const configuration = await readFile(CONFIGURATION, 'utf8').catch(() => '');
  const policy = /^SELINUXTYPE=(\S+)/m.exec(configuration)?.[1] ?? 'targeted';
  const own = join('/etc/selinux', policy, 'contexts/lxc_contexts');
  const text = await readFile(SHARED_CONTEXTS, 'utf8').catch(() => readFile(own, 'utf8').catch(() => ''));
  return parseSelinuxContexts(text);
}

/**
 * Gives a path with all below it a label, so that a container may use it. Nothing happens where there is no label, and on file
 * systems that have none. `invalid_argument` for directories that the host itself needs.
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
