import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { addressBytes } from '@podwright/system';

/** The socket tables per protocol, with their listening state: TCP_LISTEN or, for unconnected UDP sockets, TCP_CLOSE (net/tcp_states.h). */
const TABLES = [
  { protocol: 'TCP', state: '0A', names: ['tcp', 'tcp6'] },
  { protocol: 'UDP', state: '07', names: ['udp', 'udp6'] },
];

/**
 * Reads which ports the host's processes are listening on, at one of these addresses or the unspecified address. Returns a function that
 * reports whether a port is in use. For SCTP, it always returns false, because SCTP sockets are not in these tables.
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

/** Returns the listening ports in a socket table (proc_net_tcp(5)). */
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
 * Formats an address as in the tables: 32-bit words in hexadecimal, in host byte order. An IPv4 address has two forms, because IPv6 sockets
 * use the IPv4-mapped form (`::ffff:192.0.2.1`).
 */
function wordsOf(address: string): string[] {
  const bytes = Uint8Array.from(addressBytes(address));
  const words = [...new Uint32Array(bytes.buffer)].map((word) => word.toString(16).toUpperCase().padStart(8, '0'));
  const text = words.join('');
  return isIPv4(address) ? [text, `${MAPPED}${text}`] : [text];
}

/** Whether an address in a socket table is `0.0.0.0`, `::` or `::ffff:0.0.0.0`. On the latter, an IPv6 socket only receives IPv4. */
const isUnspecified = (address: string): boolean => /^0+$/.test(address) || address === `${MAPPED}00000000`;

/** The words preceding the IPv4 address in an IPv4-mapped address. */
const MAPPED = `${'0'.repeat(16)}${new Uint32Array(Uint8Array.from([0, 0, 255, 255]).buffer)[0]!.toString(16).toUpperCase().padStart(8, '0')}`;
