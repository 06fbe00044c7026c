import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CgroupHierarchy, CgroupMode } from './hierarchy.ts';

/**
 * The cgroup whose files are recorded for each host. In the v2 hierarchy and the v1 `pids` hierarchy, it has a child cgroup with a process.
 */
export const recordedCgroup = '/kubepods/pod7/c';

/** A host's recorded cgroup files: its cgroup hierarchies and, for each of them, the contents of `recordedCgroup`'s files. */
type RecordedHost = {
  mode: CgroupMode;
  trees: { name: string; version: 1 | 2; controllers: string[]; files: Record<string, string> }[];
};

const v1Stat = `cache 12288
rss 1
inactive_file 1
hierarchical_memory_limit 67108864
total_cache 8192000
total_rss 4096000
total_mapped_file 135168
total_swap 0
total_pgpgin 5000
total_pgfault 7001
total_pgmajfault 12
total_inactive_file 2048000
total_active_file 1024000
`;

/** Files recorded on Linux 6.18 with cgroup v1, for a container with 64 MiB of memory, half a CPU and one disk. */
const v1Trees: RecordedHost['trees'] = [
  {
    name: 'cpu',
    version: 1,
    controllers: ['cpu'],
    files: {
      'cpu.stat': 'nr_periods 100\nnr_throttled 20\nthrottled_time 70000\nnr_bursts 0\nburst_time 0\n',
      'cgroup.procs': '11\n12\n',
    },
  },
  {
    name: 'cpuacct',
    version: 1,
    controllers: ['cpuacct'],
    files: { 'cpuacct.usage': '5000000\n', 'cpuacct.usage_user': '3000000\n', 'cpuacct.usage_sys': '2000000\n' },
  },
  {
    name: 'memory',
    version: 1,
    controllers: ['memory'],
    files: {
      'memory.usage_in_bytes': '12288000\n',
      'memory.max_usage_in_bytes': '20480000\n',
      'memory.limit_in_bytes': '67108864\n',
      'memory.memsw.usage_in_bytes': '12388000\n',
      'memory.memsw.limit_in_bytes': '100663296\n',
      'memory.kmem.usage_in_bytes': '409600\n',
      'memory.failcnt': '3\n',
      'memory.stat': v1Stat,
      'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
    },
  },
  {
    name: 'pids',
    version: 1,
    controllers: ['pids'],
    files: { 'pids.current': '4\n', 'pids.max': 'max\n', 'cgroup.procs': '11\n12\n', 'child/cgroup.procs': '13\n' },
  },
  {
    name: 'blkio',
    version: 1,
    controllers: ['blkio'],
    files: {
      'blkio.throttle.io_service_bytes_recursive':
        '8:0 Read 100\n8:0 Write 200\n8:0 Sync 300\n8:0 Async 0\n8:0 Discard 0\n8:0 Total 300\n254:16 Read 11\n254:16 Write 22\nTotal 333\n',
      'blkio.throttle.io_serviced_recursive': '8:0 Read 4\n8:0 Write 6\n8:0 Total 10\nTotal 10\n',
    },
  },
  {
    name: 'hugetlb',
    version: 1,
    controllers: ['hugetlb'],
    files: {
      'hugetlb.2MB.usage_in_bytes': '4194304\n',
      'hugetlb.2MB.max_usage_in_bytes': '8388608\n',
      'hugetlb.1GB.usage_in_bytes': '0\n',
      'hugetlb.1GB.max_usage_in_bytes': '0\n',
    },
  },
];

const pressure = {
  'cpu.pressure': 'some avg10=1.50 avg60=0.20 avg300=0.01 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n',
  'memory.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=6\n',
  'io.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n',
};

/** Files that were not recorded but written by hand, in the formats of the kernel's cgroup-v2.rst and psi.rst. */
const v2Tree: RecordedHost['trees'][number] = {
  name: 'unified',
  version: 2,
  controllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'],
  files: {
    ...pressure,
    'cgroup.events': 'populated 1\nfrozen 0\n',
    'cgroup.procs': '11\n12\n',
    'child/cgroup.procs': '13\n',
    'cpu.stat':
      'usage_usec 5000\nuser_usec 3000\nsystem_usec 2000\nnice_usec 0\nnr_periods 100\nnr_throttled 20\nthrottled_usec 70\nnr_bursts 0\nburst_usec 0\n',
    'memory.current': '12288000\n',
    'memory.peak': '20480000\n',
    'memory.max': '67108864\n',
    'memory.swap.current': '100000\n',
    'memory.swap.max': '33554432\n',
    'memory.stat':
      'anon 4096000\nfile 8192000\nkernel 409600\nkernel_stack 32768\npagetables 65536\npercpu 0\nslab 300000\nfile_mapped 135168\ninactive_anon 0\nactive_anon 4096000\ninactive_file 2048000\nactive_file 1024000\npgfault 7001\npgmajfault 12\n',
    'memory.events': 'low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n',
    'pids.current': '4\n',
    'pids.max': 'max\n',
    'io.stat':
      '8:0 rbytes=100 wbytes=200 rios=4 wios=6 dbytes=0 dios=0\n254:16 rbytes=11 wbytes=22 rios=0 wios=0 dbytes=9 dios=9\n7:0 \n',
    'hugetlb.2MB.current': '4194304\n',
    'hugetlb.2MB.max': 'max\n',
    'hugetlb.2MB.events': 'max 0\n',
    'hugetlb.2MB.rsvd.current': '0\n',
    'hugetlb.1GB.current': '0\n',
  },
};

export const recordedHosts: Record<CgroupMode, RecordedHost> = {
  v1: { mode: 'v1', trees: v1Trees },
  hybrid: {
    mode: 'hybrid',
    trees: [
      ...v1Trees,
      {
        name: 'unified',
        version: 2,
        controllers: [],
        files: { ...pressure, 'cgroup.events': 'populated 1\nfrozen 0\n' },
      },
    ],
  },
  v2: { mode: 'v2', trees: [v2Tree] },
};

/**
 * Writes a host's recorded cgroup files under `root`, with `changes` applied (`undefined` omits a file), and returns the host's cgroup
 * hierarchies.
 */
export function writeRecordedHost(
  root: string,
  { mode, trees }: RecordedHost,
  changes: Record<string, string | undefined> = {},
): CgroupHierarchy {
  for (const { name, files } of trees) {
    for (const [file, text] of Object.entries({ ...files, ...pick(files, changes) })) {
      if (text === undefined) continue;
      const path = join(root, name, recordedCgroup, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
  const written = trees.map(({ name, version, controllers }) => ({
    version,
    mountPoint: join(root, name),
    controllers,
  }));
  return { mode, trees: written };
}

function pick(files: Record<string, string>, changes: Record<string, string | undefined>) {
  return Object.fromEntries(Object.entries(changes).filter(([name]) => Object.hasOwn(files, name)));
}
