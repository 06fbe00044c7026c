import { readFile, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isErrno, namesIn } from '@podwright/base';
import type { NodeAmounts } from './node-allocatable.ts';

/** What pods may ask for, by the resource's name: millicores of `cpu`, of the others bytes or pieces. */
export type NodeResources = Readonly<Record<string, bigint>>;

/** Pools of huge pages, as `hugepages-2048kB` (Documentation/admin-guide/mm/hugetlbpage.rst). */
const HUGE_PAGES = '/sys/kernel/mm/hugepages';

/**
 * What pods may have together: of memory what is allocatable, of ephemeral storage the file system of the kubelet's root directory,
 * of huge pages those that were set aside.
 */
export async function nodeResources(allocatable: NodeAmounts, rootDir: string): Promise<NodeResources> {
  return {
    cpu: BigInt(availableParallelism()) * 1000n,
    memory: BigInt(Math.floor(allocatable.memoryBytes)),
    'ephemeral-storage': await fileSystemBytes(rootDir),
    ...(await hugePages()),
  };
}

/** The size of the file system that the directory is on, or will be. */
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

/** As resources have it: `2Mi`, `1Gi`. */
function pageSize(kib: bigint): string {
  if (kib % (1024n * 1024n) === 0n) return `${kib / (1024n * 1024n)}Gi`;
  return kib % 1024n === 0n ? `${kib / 1024n}Mi` : `${kib}Ki`;
}
