/** Facts about the node that pods are made with. */
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { errorMessage, isErrno, wrapError } from '@podwright/base';
import { parseResolvConf, type ResolvConf } from './kuberuntime/dns-config.ts';

const resolvedConf = '/run/systemd/resolve/resolv.conf';

/**
 * The host's DNS settings for pods. A stub resolver on loopback cannot be reached from a pod: then what
 * systemd-resolved itself asks is taken instead, if there is such a file.
 */
export async function hostResolvConf(path: string): Promise<ResolvConf> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  const conf = parseResolvConf(await readText(path));
  const onlyLoopback = conf.servers.length > 0 && conf.servers.every((server) => /^127\.|^::1$/.test(server));
  if (!onlyLoopback) return conf;
  const upstream = parseResolvConf(await readFile(resolvedConf, 'utf8').catch(() => ''));
  return upstream.servers.length > 0 ? upstream : conf;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw wrapError(`read ${path} for the DNS settings of pods`, errorMessage(error), 'failed_precondition');
  }
}

/** Addresses of the node: the wanted one, or that of the interface with the default route, or any that is not loopback. */
export async function hostAddresses(wanted: string): Promise<string[]> {
  if (wanted !== '') return [wanted];
  const routes = await readFile('/proc/net/route', 'utf8').catch(() => '');
  const defaultInterface = /^(\S+)\s+00000000\s/m.exec(routes)?.[1];
  const all = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? []).map((address) => ({ name, ...address })),
  );
  const outward = all.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const preferred = outward.filter(({ name }) => name === defaultInterface);
  const chosen = preferred.length > 0 ? preferred : outward;
  const ipv4 = chosen.find(({ family }) => family === 'IPv4');
  const ipv6 = chosen.find(({ family }) => family === 'IPv6');
  const found = [ipv4, ipv6].filter((one) => one !== undefined).map(({ address }) => address);
  return found.length > 0 ? found : ['127.0.0.1'];
}

/** Labels that every node has. */
export function standardLabels(nodeName: string): Record<string, string> {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch;
  return {
    'kubernetes.io/hostname': nodeName === '' ? hostname() : nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
  };
}
