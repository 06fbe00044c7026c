/**
 * A sysctl's name with dots between its parts, as OCI runtimes want it. Slashes may stand in their place, and then a dot belongs
 * to a name: `net/ipv4/conf/eth0.100/rp_filter` is `net.ipv4.conf.eth0/100.rp_filter` (sysctl(8)).
 */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
