/** Reads the host's CPUs, memory and NUMA nodes. */
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { namesIn } from '@podwright/host';
import { parseCpus } from '@podwright/kube-api';

/** A logical CPU. `core`: lowest CPU ID on the same physical core. `cache`: lowest CPU ID sharing the same last-level cache. */
export type Cpu = { id: number; core: number; socket: number; node: number; cache: number };

/**
 * A NUMA node. `distances`: distances to all NUMA nodes, in ascending order of node ID (ACPI SLIT). `hugePages`: bytes by resource name.
 */
export type NumaNode = { id: number; memoryBytes: bigint; hugePages: Record<string, bigint>; distances: number[] };

export type Machine = { cpus: Cpu[]; nodes: NumaNode[] };

/**
 * Reads the host's CPUs and NUMA nodes. Without NUMA support in the kernel, the host is treated as a single NUMA node. `sysfs`: where sysfs
 * is mounted.
 */
export async function readMachine(sysfs = '/sys'): Promise<Machine> {
  const system = join(sysfs, 'devices/system');
  const online = parseCpus((await readText(join(system, 'cpu/online'))) ?? '0');
  const names = (await namesIn(join(system, 'node'))).filter((name) => /^node\d+$/.test(name));
  const ids = names.map((name) => Number(name.slice('node'.length))).sort((a, b) => a - b);
  const nodes = await Promise.all(ids.map((id) => readNode(join(system, `node/node${id}`), id)));
  const places = new Map(nodes.flatMap(({ cpus, node }) => cpus.map((cpu) => [cpu, node.id] as const)));
  const cpus = online.map((id) => readCpu(join(system, `cpu/cpu${id}`), { id, node: places.get(id) ?? 0 }));
  const lone = { id: 0, memoryBytes: BigInt(totalmem()), hugePages: {}, distances: [10] };
  return { cpus: await Promise.all(cpus), nodes: nodes.length === 0 ? [lone] : nodes.map(({ node }) => node) };
}

async function readNode(directory: string, id: number): Promise<{ cpus: number[]; node: NumaNode }> {
  const [cpus = '', distance = '', meminfo = ''] = await Promise.all(
    ['cpulist', 'distance', 'meminfo'].map((file) => readText(join(directory, file))),
  );
  const kibibytes = BigInt(/MemTotal:\s+(\d+) kB/.exec(meminfo)?.[1] ?? 0);
  const distances = distance.split(/\s+/).filter(Boolean).map(Number);
  const hugePages = await readHugePages(join(directory, 'hugepages'));
  return { cpus: parseCpus(cpus), node: { id, memoryBytes: kibibytes * 1024n, hugePages, distances } };
}

async function readHugePages(directory: string): Promise<Record<string, bigint>> {
  const pools = (await namesIn(directory)).map(async (name) => {
    const kibibytes = BigInt(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    const count = BigInt((await readText(join(directory, name, 'nr_hugepages'))) ?? 0);
    return [hugePagesName(kibibytes), count * kibibytes * 1024n] as const;
  });
  return Object.fromEntries(await Promise.all(pools));
}

/** Returns a huge page resource name, such as `hugepages-2Mi` or `hugepages-1Gi`. */
function hugePagesName(kibibytes: bigint): string {
  if (kibibytes % (1n << 20n) === 0n) return `hugepages-${kibibytes >> 20n}Gi`;
  return kibibytes % 1024n === 0n ? `hugepages-${kibibytes >> 10n}Mi` : `hugepages-${kibibytes}Ki`;
}

async function readCpu(directory: string, { id, node }: { id: number; node: number }): Promise<Cpu> {
  const [siblings, socketId, shared] = await Promise.all([
    readText(join(directory, 'topology/thread_siblings_list')),
    readText(join(directory, 'topology/physical_package_id')),
    readText(join(directory, 'cache/index3/shared_cpu_list')),
  ]);
  const socket = Math.max(0, Number(socketId ?? 0)); // -1 if the firmware does not report the socket
  const core = parseCpus(siblings ?? String(id))[0] ?? id;
  return { id, core, socket, node, cache: shared === undefined ? socket : (parseCpus(shared)[0] ?? socket) };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return undefined;
    throw new PodwrightError('internal', `read ${path}`, { cause: error });
  }
}
