import { readFile } from 'node:fs/promises';
import { isErrno, wrapError } from '@podwright/base';

/** The file in which systemd-resolved lists the upstream DNS servers. */
const SYSTEMD_RESOLVED_CONF = '/run/systemd/resolve/resolv.conf';

/**
 * Returns the contents of a host's resolv.conf(5) for use in pods; '' if the file does not exist. Pods cannot reach a stub resolver on the
 * host's loopback interface, so if the file lists no other server, returns systemd-resolved's file instead, provided that it exists and
 * lists a server.
 */
export async function readPodResolvConf(path: string, resolvedPath = SYSTEMD_RESOLVED_CONF): Promise<string> {
  const text = await readText(path);
  const servers = serversIn(text);
  if (servers.length === 0 || !servers.every((server) => /^127\.|^::1$/.test(server))) return text;
  const upstream = await readText(resolvedPath);
  return serversIn(upstream).length > 0 ? upstream : text;
}

function serversIn(text: string): string[] {
  return [...text.matchAll(/^\s*nameserver\s+([^\s#;]+)/gm)].map(([, server]) => server!);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw wrapError(`read ${path} for the DNS settings of pods`, error, 'failed_precondition');
  }
}
