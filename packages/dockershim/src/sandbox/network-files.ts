import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CONTAINER_DIRECTORY, CONTAINER_FILE, isErrno, readPodResolvConf, wrapError } from '@podwright/base';
import type { DNSConfig, PodSandboxConfig } from '@podwright/cri';
import { resolvConf } from './resolv-conf.ts';

/** Where containers have the files by which they find themselves and other hosts. */
const NETWORK_FILES = ['/etc/hostname', '/etc/hosts', '/etc/resolv.conf'];

/** What every host knows of itself and its link: what the Engine writes for a container without a network. */
const HOSTS = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'ff00::0\tip6-mcastprefix',
  'ff02::1\tip6-allnodes',
  'ff02::2\tip6-allrouters',
];

/**
 * What the Engine writes for pods whose network it does not leave alone. Without DNS of its own a pod has that of the host; a file that
 * is there stays as it is.
 */
export async function writeNetworkFiles(
  directory: string,
  { hostname, dns }: { hostname: string; dns: Pick<DNSConfig, 'servers' | 'searches' | 'options'> | undefined },
): Promise<void> {
  const write = async (name: string, text: string) => {
    const options = { mode: CONTAINER_FILE, flag: 'wx' };
    await writeFile(join(directory, name), text, options).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
  };
  try {
    await mkdir(directory, { recursive: true, mode: CONTAINER_DIRECTORY });
    const own = dns === undefined ? '' : resolvConf(dns);
    const resolv = own === '' ? await readPodResolvConf('/etc/resolv.conf') : own;
    await write('hostname', `${hostname}\n`);
    await write('hosts', HOSTS.map((line) => `${line}\n`).join(''));
    await write('resolv.conf', resolv);
  } catch (error) {
    throw wrapError(`write hosts, hostname and resolv.conf of the pod in ${directory}`, error);
  }
}

/** By which names a pod knows itself and others: as with the Engine it has a beginning of its sandbox's id without a name of its own. */
export function networkNames(sandboxId: string, { hostname, dnsConfig: dns }: PodSandboxConfig) {
  return { hostname: hostname || sandboxId.slice(0, 12), dns };
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
