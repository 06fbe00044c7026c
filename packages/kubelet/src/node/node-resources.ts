import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { namesIn } from '@podwright/host';
import { formatQuantity, isHugePages } from '@podwright/kube-api';
import type { SystemReserved } from '@podwright/kubelet-configuration';
import type { NodeAmounts } from './node-allocatable.ts';

/** Amounts that pods may request, by resource name: `cpu` in millicores, others in bytes or counts. */
export type NodeResources = Readonly<Record<string, bigint>>;

/** Directory that contains the huge page pools, such as `hugepages-2048kB` (Documentation/admin-guide/mm/hugetlbpage.rst). */
const HUGE_PAGES = '/sys/kernel/mm/hugepages';

/**
 * Returns the node's capacity. Ephemeral storage is the size of the file system that contains the kubelet's root directory; huge pages are
 * the preallocated ones.
 */
export async function nodeResources(capacity: NodeAmounts, rootDir: string): Promise<NodeResources> {
  return {
    cpu: BigInt(availableParallelism()) * 1000n,
    memory: BigInt(Math.floor(capacity.memoryBytes)),
    'ephemeral-storage': await fileSystemBytes(rootDir),
    ...(await hugePages()),
  };
}

/**
 * Returns the capacity minus the reservations. Memory is the amount in `allocatable` minus huge pages, which cannot be used as regular
 * memory. Throws `invalid_argument` if a reservation exceeds the capacity.
 */
export function allocatableResources(
  capacity: NodeResources,
  { allocatable, reserved }: { allocatable: NodeAmounts; reserved: SystemReserved },
): NodeResources {
  const pages = Object.entries(capacity).filter(([name]) => isHugePages(name));
  const inPages = pages.reduce((sum, [, bytes]) => sum + bytes, 0n);
  const memory = BigInt(Math.floor(allocatable.memoryBytes)) - inPages;
  return {
    ...capacity,
    cpu: without(capacity, 'cpu', BigInt(reserved.cpuMillis)),
    memory: memory < 0n ? 0n : memory,
    'ephemeral-storage': without(capacity, 'ephemeral-storage', BigInt(reserved.ephemeralStorageBytes)),
  };
}

function without(capacity: NodeResources, name: string, reserved: bigint): bigint {
  const has = capacity[name] ?? 0n;
  if (reserved <= has) return has - reserved;
  throw new PodwrightError(
    'invalid_argument',
    `reserve ${reserved}${name === 'cpu' ? 'm' : ''} of ${name} for the system: the node has ${has}${name === 'cpu' ? 'm' : ''}; lower the reserve`,
  );
}

/** Formats amounts as API quantities. */
export function resourceList(resources: NodeResources): Record<string, string> {
  return Object.fromEntries(Object.entries(resources).map(([name, amount]) => [name, written(name, amount)]));
}

/** Formats an amount as a quantity: CPU amounts are in millicores, device amounts are counts, and everything else is in bytes. */
const written = (name: string, amount: bigint) =>
  name === 'cpu'
    ? formatQuantity(amount * 1_000_000n, '')
    : formatQuantity(amount * 1_000_000_000n, name.includes('/') ? '' : 'Ki');

/** Returns the size in bytes of the directory's file system. The directory need not exist yet. */
async function fileSystemBytes(directory: string): Promise<bigint> {
  try {
    const { blocks, bsize } = await statfs(directory, { bigint: true });
    return blocks * bsize;
  } catch (error) {
    if (!isErrno(error, 'ENOENT') || dirname(directory) === directory) throw error;
    return fileSystemBytes(dirname(directory));
  }
}

async function hugePages(): Promise<Record<string, bigint>> {
  const pools = (await namesIn(HUGE_PAGES)).map(async (name) => {
    const kib = BigInt(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
    const count = BigInt((await readFile(join(HUGE_PAGES, name, 'nr_hugepages'), 'utf8')).trim());
    return [`hugepages-${pageSize(kib)}`, count * kib * 1024n] as const;
  });
  return Object.fromEntries(await Promise.all(pools));
}

/** Formats a page size as in resource names: `2Mi`, `1Gi`. */
function pageSize(kib: bigint): string {
  if (kib % (1024n * 1024n) === 0n) return `${kib / (1024n * 1024n)}Gi`;
  return kib % 1024n === 0n ? `${kib / 1024n}Mi` : `${kib}Ki`;
}
