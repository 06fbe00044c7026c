/** Finds listening sockets on the host network and the processes that own them (proc_net(5)). */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { SocketAddress } from 'node:net';
import { isErrno } from '@podwright/base';

/** A listening socket. `ip`: the address it listens on; 0.0.0.0 stands for all of the host's addresses, of either IP family. */
export type HostListener = { ip: string; port: number; protocol: 'TCP' | 'UDP'; inode: string };

/** The process that owns a socket. `cgroup`: the content of its /proc/PID/cgroup. */
export type SocketOwner = { pid: number; name: string; cgroup: string };

/** Values of the socket state in /proc: listening for TCP, unconnected for UDP (include/net/tcp_states.h). */
const STATES = { TCP: '0A', UDP: '07' } as const;

/** Returns the listening sockets in this process's network namespace. */
export async function hostListeners(proc = '/proc'): Promise<HostListener[]> {
  const files = [
    ['TCP', 'tcp'],
    ['TCP', 'tcp6'],
    ['UDP', 'udp'],
    ['UDP', 'udp6'],
  ] as const;
  const lists = files.map(async ([protocol, file]) => {
    const text = await readIfThere(`${proc}/self/net/${file}`);
    return text
      .split('\n')
      .slice(1)
      .flatMap((line) => parseLine(line, protocol));
  });
  return (await Promise.all(lists)).flat();
}

function parseLine(line: string, protocol: HostListener['protocol']): HostListener[] {
  const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
  if (state !== STATES[protocol]) return [];
  const [address = '', port = ''] = local.split(':');
  return [{ ip: parseAddress(address), port: Number.parseInt(port, 16), protocol, inode }];
}

/**
 * Decodes an IP address from /proc/net. The kernel writes it as 4-byte words in host byte order, which is little-endian on all Linux
 * platforms of Node.js except s390x.
 */
function parseAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.every((byte) => byte === 0)) return '0.0.0.0';
  if (bytes.length === 4) return bytes.join('.');
  const groups = bytes.flatMap((byte, at) => (at % 2 === 0 ? [((byte << 8) | bytes[at + 1]!).toString(16)] : []));
  const { address } = new SocketAddress({ address: groups.join(':'), family: 'ipv6' });
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

/** Returns a process that has this socket open. Finds only processes whose file descriptors this process may read. */
export async function socketOwner(inode: string, proc = '/proc'): Promise<SocketOwner | undefined> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await hasSocket(`${proc}/${pid}/fd`, `socket:[${inode}]`))) continue;
    const [name, cgroup] = await Promise.all([
      readIfThere(`${proc}/${pid}/comm`),
      readIfThere(`${proc}/${pid}/cgroup`),
    ]);
    return { pid: Number(pid), name: name.trim(), cgroup };
  }
  return undefined;
}

async function hasSocket(directory: string, link: string): Promise<boolean> {
  for (const name of await readdir(directory).catch(() => [])) {
    const target = await readlink(`${directory}/${name}`).catch(() => '');
    if (target === link) return true;
  }
  return false;
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return '';
    throw error;
  }
}
