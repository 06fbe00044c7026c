import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { addressBytes } from '@podwright/system';

/** The tables of sockets by protocol, with the states TCP_LISTEN and, for UDP sockets that are not connected, TCP_CLOSE (net/tcp_states.h). */
const TABLES = [
  { protocol: 'TCP', state: '0A', names: ['tcp', 'tcp6'] },
  { protocol: 'UDP', state: '07', names: ['udp', 'udp6'] },
];

/**
 * Reads at which ports programs of the host currently listen, at one of the addresses or at the unspecified address. Returns a function
 * that reports whether one listens at a port. It is always false for SCTP, whose sockets are not in these tables.
 */
export function readListeners(addresses: readonly string[]): (port: number, protocol: string) => boolean {
  const ports = new Map(
    TABLES.map(({ protocol, state, names }) => {
      const found = names.flatMap((name) => [...listeningPorts(tableOf(`/proc/net/${name}`), { state, addresses })]);
      return [protocol, new Set(found)];
    }),
  );
  return (port, protocol) => ports.get(protocol)?.has(port) ?? false;
}

function tableOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // without IPv6, the kernel has no such file
  }
}

/** Returns the ports of a table of sockets (proc_net_tcp(5)) at which a socket listens. */
export function listeningPorts(
  table: string,
  { state, addresses }: { state: string; addresses: readonly string[] },
): Set<number> {
  const wanted = new Set(addresses.flatMap(wordsOf));
  const ports = new Set<number>();
  for (const line of table.split('\n')) {
    const [, local = '', , found] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (found === state && (isUnspecified(address) || wanted.has(address))) ports.add(Number.parseInt(port, 16));
  }
  return ports;
}

/**
 * Formats an address as in the tables: 32-bit words as hexadecimal numbers in the byte order of the host. An IPv4 address has two forms,
 * because IPv6 sockets have it as an IPv4-mapped address (`::ffff:192.0.2.1`).
 */
function wordsOf(address: string): string[] {
  const bytes = Uint8Array.from(addressBytes(address));
  const words = [...new Uint32Array(bytes.buffer)].map((word) => word.toString(16).toUpperCase().padStart(8, '0'));
  const text = words.join('');
  return isIPv4(address) ? [text, `${MAPPED}${text}`] : [text];
}

/** Whether it is `0.0.0.0`, `::`, or `::ffff:0.0.0.0`, at which an IPv6 socket receives IPv4 only. */
const isUnspecified = (address: string): boolean => /^0+$/.test(address) || address === `${MAPPED}00000000`;

/** The words before the IPv4 address in an IPv4-mapped address. */
const MAPPED = `${'0'.repeat(16)}${new Uint32Array(Uint8Array.from([0, 0, 255, 255]).buffer)[0]!.toString(16).toUpperCase().padStart(8, '0')}`;
