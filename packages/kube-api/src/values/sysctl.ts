/**
 * Converts a sysctl name to use dots as separators, as expected by OCI runtimes. If it uses slashes as separators, its dots belong to
 * components: `net/ipv4/conf/eth0.100/rp_filter` becomes `net.ipv4.conf.eth0/100.rp_filter` (sysctl(8)).
 */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
