import { readFile } from 'node:fs/promises';
import { isErrno, wrapError } from './errors.ts';

/** Where systemd-resolved has the servers that it asks itself. */
const SYSTEMD_RESOLVED_CONF = '/run/systemd/resolve/resolv.conf';

/**
 * The text of a host's resolv.conf(5) as pods can use it, '' where there is none. A stub resolver on loopback cannot be reached from a
 * pod: where there is no other, what systemd-resolved itself asks is taken instead, if there is such a file.
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
