import { readFile, writeFile } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';
import type { DNSConfig } from '@podwright/cri';

/** Formats a pod's DNS settings as `resolv.conf` (resolv.conf(5)), in the same order as the Engine. */
export function resolvConf({
  servers,
  searches,
  options,
}: Pick<DNSConfig, 'servers' | 'searches' | 'options'>): string {
  const lines = searches.length > 0 ? [`search ${searches.join(' ')}`] : [];
  lines.push(...servers.map((server) => `nameserver ${server}`));
  if (options.length > 0) lines.push(`options ${options.join(' ')}`);
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Writes the `resolv.conf` that the Engine mounts into all of a pod's containers, in place because it is bind-mounted. The Engine got the
 * same settings when it created the sandbox, so it does not overwrite the file with different content.
 */
export async function rewriteResolvConf(path: string, dns: DNSConfig): Promise<void> {
  const text = resolvConf(dns);
  if (text === '') return;
  if (path === '') throw new PodwrightError('internal', 'rewrite resolv.conf: the Docker Engine reports no path');
  try {
    if ((await readFile(path, 'utf8')) !== text) await writeFile(path, text);
  } catch (error) {
    throw wrapError(`rewrite ${path}`, error, 'internal');
  }
}
