import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CONTAINER_DIRECTORY, CONTAINER_FILE, wrapError } from '@podwright/base';
import type { DNSConfig } from '@podwright/cri';
import { resolvConf } from './resolv-conf.ts';

/** Where containers have the files by which they find other hosts. */
const NETWORK_FILES = ['/etc/hosts', '/etc/resolv.conf'];

/** What every host knows of itself and its link: what the Engine writes for a container without a network. */
const HOSTS = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'ff00::0\tip6-mcastprefix',
  'ff02::1\tip6-allnodes',
  'ff02::2\tip6-allrouters',
];

/** `hosts` and `resolv.conf` of a pod whose network the Engine leaves alone; without DNS of its own it has that of the host. */
export async function writeNetworkFiles(
  directory: string,
  dns: Pick<DNSConfig, 'servers' | 'searches' | 'options'> | undefined,
): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: CONTAINER_DIRECTORY });
    const own = dns === undefined ? '' : resolvConf(dns);
    const resolv = own === '' ? await readFile('/etc/resolv.conf', 'utf8') : own;
    await writeFile(join(directory, 'hosts'), HOSTS.map((line) => `${line}\n`).join(''), { mode: CONTAINER_FILE });
    await writeFile(join(directory, 'resolv.conf'), resolv, { mode: CONTAINER_FILE });
  } catch (error) {
    throw wrapError(`write hosts and resolv.conf of the pod in ${directory}`, error, 'internal');
  }
}

/** The pod's files as mounts of a container, but those that it has of its own. */
export function networkFileMounts(
  directory: string,
  taken: readonly string[],
): { hostPath: string; containerPath: string }[] {
  return NETWORK_FILES.filter((path) => !taken.includes(path)).map((containerPath) => ({
    hostPath: join(directory, basename(containerPath)),
    containerPath,
  }));
}

/** Whether a mount is none that the client asked for. */
export function isNetworkFile(sandboxId: string, mount: { Source: string; Destination: string }): boolean {
  const { Source, Destination } = mount;
  return NETWORK_FILES.includes(Destination) && Source.endsWith(`/${sandboxId}/${basename(Destination)}`);
}
