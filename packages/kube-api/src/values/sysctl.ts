/**
 * A sysctl's name with dots as separators, as OCI runtimes expect. If slashes are the separators, a dot is a part of a name:
 * `net/ipv4/conf/eth0.100/rp_filter` is `net.ipv4.conf.eth0/100.rp_filter` (sysctl(8)).
 */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
