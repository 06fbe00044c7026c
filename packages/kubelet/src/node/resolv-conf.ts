import { readFile } from 'node:fs/promises';
import { errorMessage, isErrno, wrapError } from '@podwright/base';

/** Where systemd-resolved has the servers that it asks itself. */
const SYSTEMD_RESOLVED_CONF = '/run/systemd/resolve/resolv.conf';

/** What a resolv.conf says. */
export type ResolvConf = { servers: string[]; searches: string[]; options: string[] };

/** Reads the lines of resolv.conf(5) that matter to pods; the last `search` or `domain` line wins. */
export function parseResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { servers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) conf.servers.push(values[0]);
    if (keyword === 'search' || keyword === 'domain') conf.searches = values;
    if (keyword === 'options') conf.options.push(...values);
  }
  return conf;
}

/**
 * The host's DNS settings for pods. A stub resolver on loopback cannot be reached from a pod: then what
 * systemd-resolved itself asks is taken instead, if there is such a file.
 */
export async function hostResolvConf(path: string): Promise<ResolvConf> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  const conf = parseResolvConf(await readText(path));
  const onlyLoopback = conf.servers.length > 0 && conf.servers.every((server) => /^127\.|^::1$/.test(server));
  if (!onlyLoopback) return conf;
  const upstream = parseResolvConf(await readText(SYSTEMD_RESOLVED_CONF));
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
