import { readdir, readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { isErrno, wrapError } from '@podwright/base';
import { type HostEntry, parseHostsFile } from './hosts-file.ts';
import { defaultHost, isLoopback, type RegistryHost } from './registry-host.ts';

/**
 * Returns the hosts for the repositories of `domain`, in the order to try them. They are configured in the first of these directories that
 * exists: `<configDir>/<host>_<port>_`, `<configDir>/<host[:port]>` and `<configDir>/_default`. If none exists, the only host is the
 * registry itself. A directory with no `hosts.toml`, or an empty one, is treated like Docker's certs.d (`*.crt` CAs, `*.cert` with
 * `*.key`). The files are reread on each call, so changes take effect without a restart. Throws `failed_precondition` if a file is invalid.
 */
export async function loadRegistryHosts(configDir: string, domain: string): Promise<RegistryHost[]> {
  for (const name of directoryNames(domain)) {
    const directory = join(configDir, name);
    const files = await listDirectory(directory);
    if (files === undefined) continue;
    const text = files.includes('hosts.toml') ? await readFile(join(directory, 'hosts.toml'), 'utf8') : '';
    const entries = text === '' ? [certificateDirectory(files)] : parseHostsFile(text, join(directory, 'hosts.toml'));
    return Promise.all(entries.map((entry) => readEntry(entry, directory, domain)));
  }
  return [defaultHost(domain)];
}

function directoryNames(domain: string): string[] {
  const port = /^(.+):(\d+)$/.exec(domain);
  return [...(port === null ? [] : [`${port[1]}_${port[2]}_`]), domain, '_default'];
}

async function listDirectory(directory: string): Promise<string[] | undefined> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw wrapError(`read ${directory}`, error, 'failed_precondition');
  }
}

function certificateDirectory(files: string[]): HostEntry {
  const certificates = files.filter((file) => file.endsWith('.cert'));
  return {
    baseUrl: undefined,
    capabilities: ['pull', 'resolve', 'push'],
    caFiles: files.filter((file) => file.endsWith('.crt')),
    clientFiles: certificates.map((file) => {
      const key = file.replace(/\.cert$/, '.key');
      return [file, files.includes(key) ? key : file] as const;
    }),
    skipVerify: undefined,
    headers: {},
    dialTimeoutMs: undefined,
  };
}

async function readEntry(entry: HostEntry, directory: string, domain: string): Promise<RegistryHost> {
  const read = async (file: string): Promise<string> => {
    const path = isAbsolute(file) ? file : join(directory, file);
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      throw wrapError(`read a certificate of registry ${domain}`, error, 'failed_precondition');
    }
  };
  const ca = await Promise.all(entry.caFiles.map(read));
  const clientCertificates = await Promise.all(
    entry.clientFiles.map(async ([certificate, key]) => ({
      certificate: await read(certificate),
      key: await read(key),
    })),
  );
  const itself = defaultHost(domain);
  const host: RegistryHost = {
    ...itself,
    baseUrl: entry.baseUrl ?? itself.baseUrl,
    capabilities: entry.capabilities,
    tls: { ca, clientCertificates, skipVerify: entry.skipVerify ?? false },
    headers: entry.headers,
    fallsBackToHttp: entry.baseUrl === undefined && itself.fallsBackToHttp,
    dialTimeoutMs: entry.dialTimeoutMs,
  };
  // no public CA issues certificates for loopback names, so do not verify them by default, as in containerd
  if (entry.baseUrl === undefined && isLoopback(domain)) host.tls.skipVerify = entry.skipVerify ?? true;
  return { ...host, ...preferTls(host.baseUrl, entry), namespace: namespaceOf(host.baseUrl, domain) };
}

/** Makes the client try https before http for an http URL with TLS settings, as in containerd, except on port 80. */
function preferTls(baseUrl: string, entry: HostEntry): Partial<RegistryHost> {
  const hasTlsSettings = entry.caFiles.length > 0 || entry.clientFiles.length > 0 || entry.skipVerify !== undefined;
  const { protocol, port } = new URL(baseUrl);
  if (!hasTlsSettings || protocol !== 'http:' || port === '') return {};
  return { baseUrl: baseUrl.replace(/^http:/, 'https:'), fallsBackToHttp: true };
}

/** Returns the `ns` parameter, which names the registry being mirrored; '' for the registry itself. */
function namespaceOf(baseUrl: string, domain: string): string {
  const host = new URL(baseUrl).host;
  const isItself = host === domain || baseUrl === defaultHost(domain).baseUrl;
  return isItself || (domain === 'docker.io' && host === 'registry-1.docker.io') ? '' : domain;
}
