import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';

/** The states TCP_LISTEN and, for UDP sockets that are not connected, TCP_CLOSE (net/tcp_states.h). */
const STATES: Readonly<Record<string, string>> = { tcp: '0A', udp: '07' };

/**
 * Whether a program of the host listens on the port, at one of the addresses or at the unspecified address. SCTP sockets and sockets at
 * single IPv6 addresses are not found.
 */
export function isListening(port: number, protocol: string, addresses: readonly string[]): boolean {
  const name = protocol.toLowerCase();
  const state = STATES[name];
  if (state === undefined) return false;
  return ['', '6'].some((family) => hasListener(tableOf(`/proc/net/${name}${family}`), { port, state, addresses }));
}

function tableOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // without IPv6, the kernel has no such file
  }
}

export type AskedPort = { port: number; state: string; addresses: readonly string[] };

/** Whether a table of sockets (proc_net_tcp(5)) has one that listens on the port. */
export function hasListener(table: string, { port, state, addresses }: AskedPort): boolean {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const held = new Set(addresses.filter((address) => isIPv4(address)).map(wordOf));
  return table.split('\n').some((line) => {
    const [, local = '', , found] = line.trim().split(/\s+/);
    const [address = '', at] = local.split(':');
    return found === state && at === hex && (/^0+$/.test(address) || held.has(address));
  });
}

/** Formats an IPv4 address as in the table: a hexadecimal number in the byte order of the host. */
function wordOf(address: string): string {
  const bytes = Uint8Array.from(address.split('.').map(Number));
  const [word = 0] = new Uint32Array(bytes.buffer);
  return word.toString(16).toUpperCase().padStart(8, '0');
}
