import { readFile, writeFile } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';
import type { DNSConfig } from '@podwright/cri';

/** `resolv.conf` as the pod asks for it (resolv.conf(5)), in the Engine's own order. */
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
 * Writes the file that the Engine mounts into all containers of a pod, in place, as mounts hold on to it. The Engine is told the
 * same at creation, and so writes no other content when it comes to write it again.
 */
export async function rewriteResolvConf(path: string, dns: DNSConfig): Promise<void> {
  const text = resolvConf(dns);
  if (text === '') return;
  if (path === '') throw new PodwrightError('internal', 'rewrite resolv.conf: the Docker Engine names no file');
  try {
    if ((await readFile(path, 'utf8')) !== text) await writeFile(path, text);
  } catch (error) {
    throw wrapError(`rewrite ${path}`, error, 'internal');
  }
}
