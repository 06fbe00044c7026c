/** Sysctl and capability checks. */
import { type JsonObject, objectsAt, textAt, textsAt } from '@podwright/kube-kinds';
import { type CheckPod, containerList, containersOf, quotedNames, sorted } from './check.ts';

const SYSCTLS_0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_27 = [...SYSCTLS_0, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  ...['tcp_keepalive_time', 'tcp_fin_timeout', 'tcp_keepalive_intvl', 'tcp_keepalive_probes'].map(
    (one) => `net.ipv4.${one}`,
  ),
];
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];
/** The allowed sysctls, by the minor version that introduced the list. */
export const SYSCTLS = { 0: SYSCTLS_0, 27: SYSCTLS_27, 29: SYSCTLS_29, 32: SYSCTLS_32 };

export const sysctls =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const names = objectsAt(spec, 'securityContext', 'sysctls').map((one) => textAt(one, 'name'));
    const forbidden = names.filter((name) => !allowed.includes(name));
    return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') };
  };

const addedTo = (container: JsonObject): readonly string[] =>
  textsAt(container, 'securityContext', 'capabilities', 'add');
const BASELINE_CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP'],
  ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

/** Returns a description of the disallowed capabilities and the containers that add them, or '' if there are none. */
function forbiddenAdditions(spec: unknown, allowed: readonly string[]): string {
  const added = (container: JsonObject) => addedTo(container).filter((name) => !allowed.includes(name));
  const bad = containersOf(spec).filter((container) => added(container).length > 0);
  if (bad.length === 0) return '';
  const names = quotedNames(sorted(bad.flatMap(added)));
  return `${containerList(bad)} must not include ${names} in securityContext.capabilities.add`;
}

export const baselineCapabilities: CheckPod = ({ spec }) => {
  const detail = forbiddenAdditions(spec, BASELINE_CAPABILITIES);
  return detail === '' ? undefined : { reason: 'non-default capabilities', detail };
};

export const restrictedCapabilities: CheckPod = ({ spec }) => {
  const drops = (container: JsonObject) =>
    textsAt(container, 'securityContext', 'capabilities', 'drop').includes('ALL');
  const missing = containersOf(spec).filter((container) => !drops(container));
  const details = [
    missing.length === 0 ? '' : `${containerList(missing)} must set securityContext.capabilities.drop=["ALL"]`,
    forbiddenAdditions(spec, ['NET_BIND_SERVICE']),
  ].filter((detail) => detail !== '');
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};
