/** Returns the contents of `resolv.conf` for a pod with its own DNS configuration (resolv.conf(5)); '' if it is empty. */
export function resolvConf(dns: { servers: string[]; searches: string[]; options: string[] }): string {
  const lines: string[] = [];
  if (dns.searches.length > 0) lines.push(`search ${dns.searches.join(' ')}`);
  for (const server of dns.servers) lines.push(`nameserver ${server}`);
  if (dns.options.length > 0) lines.push(`options ${dns.options.join(' ')}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the contents of `/etc/hosts` for a pod with its own addresses (hosts(5)). */
export function hostsFile(hostname: string, ips: string[]): string {
  const lines = [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...ips.map((ip) => `${ip}\t${hostname}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
