/**
 * Returns a sysctl name with dots as separators, as OCI runtimes expect. In a name that uses slashes as separators, a dot is part of a
 * component: `net/ipv4/conf/eth0.100/rp_filter` becomes `net.ipv4.conf.eth0/100.rp_filter` (sysctl(8)).
 */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
