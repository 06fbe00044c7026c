import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CONTAINER_DIRECTORY, CONTAINER_FILE, isErrno, wrapError } from '@podwright/base';
import type { DNSConfig, PodSandboxConfig } from '@podwright/cri';
import { readPodResolvConf } from '@podwright/host';
import { resolvConf } from './resolv-conf.ts';

/** In-container paths of the files with the host names and DNS settings. */
const NETWORK_FILES = ['/etc/hostname', '/etc/hosts', '/etc/resolv.conf'];

/** Entries in `hosts` for loopback and link-local addresses, as written by the Engine for a container without a network. */
const HOSTS = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'ff00::0\tip6-mcastprefix',
  'ff02::1\tip6-allnodes',
  'ff02::2\tip6-allrouters',
];

/**
 * Writes `hostname`, `hosts` and `resolv.conf` for a pod whose network is not set up by the Engine, which then writes none of them. A pod
 * without its own DNS settings gets the host's. Existing files are kept.
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

/** Returns a pod's host name and DNS settings. As in the Engine, the host name defaults to the first 12 digits of the sandbox ID. */
export function networkNames(sandboxId: string, { hostname, dnsConfig: dns }: PodSandboxConfig) {
  return { hostname: hostname || sandboxId.slice(0, 12), dns };
}

/** Returns the mounts of the pod's network files, except where the container has a mount of its own. */
export function networkFileMounts(
  directory: string,
  taken: readonly string[],
): { hostPath: string; containerPath: string }[] {
  return NETWORK_FILES.filter((path) => !taken.includes(path)).map((containerPath) => ({
    hostPath: join(directory, basename(containerPath)),
    containerPath,
  }));
}

/** Whether a mount is one of the pod's network files and so was not requested by the client. */
export function isNetworkFile(sandboxId: string, mount: { Source: string; Destination: string }): boolean {
  const { Source, Destination } = mount;
  return NETWORK_FILES.includes(Destination) && Source.endsWith(`/${sandboxId}/${basename(Destination)}`);
}
