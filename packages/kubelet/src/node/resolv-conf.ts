import { readPodResolvConf } from '@podwright/host';

/** Kubernetes' DNS limits: the number of search domains, the length of each domain, and the total length of the search line. */
export const MAX_SEARCHES = 32;
export const MAX_SEARCH_DOMAIN_LENGTH = 253;
export const MAX_SEARCH_LINE_LENGTH = 2048;
/** Number of search domains that a cluster prepends to the host's. */
const CLUSTER_SEARCHES = 3;

/** The parsed settings of a resolv.conf. */
export type ResolvConf = { servers: string[]; searches: string[]; options: string[] };

/** Parses the lines of resolv.conf(5) that are relevant to pods; the last `search` or `domain` line wins. */
export function parseResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { servers: [], searches: [], options: [] };
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && values[0] !== undefined) conf.servers.push(values[0]);
    if (keyword === 'search' || keyword === 'domain')
      conf.searches = values.map(withoutRoot).filter((one) => one !== '');
    if (keyword === 'options') conf.options.push(...values);
  }
  const options = new Map(conf.options.map((option) => [option.split(':')[0], option]));
  return { ...conf, options: [...options.values()] };
}

/** Removes the trailing dot of a domain: `example.org.` becomes `example.org`, and `.` becomes ''. */
function withoutRoot(domain: string): string {
  return domain.replace(/\.$/, '');
}

/** Returns upstream's message if the host's search domains exceed the limits for pods. */
export function searchProblem(path: string, { searches }: ResolvConf, clusterDomain: string): string | undefined {
  const most = MAX_SEARCHES - (clusterDomain === '' ? 0 : CLUSTER_SEARCHES);
  if (searches.length > most)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${most} domains!`;
  if (searches.some(({ length }) => length > MAX_SEARCH_DOMAIN_LENGTH))
    return `Resolv.conf file "${path}" contains a search path which length is more than allowed ${MAX_SEARCH_DOMAIN_LENGTH} chars!`;
  if (searches.join(' ').length > MAX_SEARCH_LINE_LENGTH)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${MAX_SEARCH_LINE_LENGTH} chars!`;
  return undefined;
}

/** Reads the host's DNS settings for pods. If the path is '', returns a loopback server and the root domain, as in upstream. */
export async function hostResolvConf(path: string): Promise<ResolvConf> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  return parseResolvConf(await readPodResolvConf(path));
}
