/** Effects of plugin adjustments on real containers, read in the container or from its cgroup. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type CgroupHierarchy, discoverCgroups, runChecked, treeOf } from '@podwright/host';
import type { PluginHandlers } from '@podwright/nri';
import { readCgroupOf } from '../fixtures/process-cgroup.ts';
import { nriUnderTest } from './nri-under-test.fixture.ts';

type Adjustment = NonNullable<Awaited<ReturnType<NonNullable<PluginHandlers['createContainer']>>>>['adjust'];

const cdiDirectories: string[] = [];
const { runtime, start, end, withPlugin, runPod, create, output } = nriUnderTest({ cdiDirectories });
const { place } = runtime;
/** This test file's directory on the host, for files that adjustments refer to. */
const directory = mkdtempSync(join(place.directory, 'adjustments-'));
cdiDirectories.push(join(directory, 'cdi'));

let pod: string;
let cgroups: CgroupHierarchy;
/** Minor version of the OCI runtime spec that runc implements: 0 for runc 1.1, 3 for runc 1.4. */
let ociMinor: number;
before(async () => {
  await start();
  cgroups = await discoverCgroups();
  const { ociVersionMax } = JSON.parse(await runChecked('runc', ['features'])) as { ociVersionMax: string };
  ociMinor = Number(ociVersionMax.split('.')[1]);
  pod = await runPod('adjusted');
});
after(async () => {
  rmSync(directory, { recursive: true });
  assert.deepEqual(await end(), [], 'the runtime leaves nothing on the host');
});

/** Creates a container that is adjusted by a plugin. `fields`: fields of the client's configuration. */
const createAdjusted = (name: string, adjust: Adjustment, fields: Record<string, unknown> = {}): Promise<string> =>
  withPlugin({ createContainer: () => ({ adjust }) }, () => create(pod, name, undefined, fields));

async function startAdjusted(name: string, adjust: Adjustment, fields: Record<string, unknown> = {}): Promise<string> {
  const containerId = await createAdjusted(name, adjust, fields);
  await runtime.cri.runtime.startContainer({ containerId });
  return containerId;
}

async function infoOf(containerId: string): Promise<{ pid: number; runtimeSpec: { annotations: object } }> {
  const { info } = await runtime.cri.runtime.containerStatus({ containerId, verbose: true });
  return JSON.parse(info.info!);
}

const pidOf = async (containerId: string) => (await infoOf(containerId)).pid;

/** Reads a file in the container's cgroup: `v1` on a host with cgroup v1, `v2` with cgroup v2. */
async function limitOf(containerId: string, controller: string, [v1, v2]: readonly [string, string]): Promise<string> {
  const file = treeOf(cgroups, controller)!.version === 1 ? v1 : v2;
  return await readCgroupOf(cgroups, await pidOf(containerId), [controller, file]);
}

/** Adjustments, each with a script that shows its effects in the container, and the script's output. */
const EFFECTS: Record<
  string,
  { adjust: Adjustment; fields?: Record<string, unknown>; script: string; shown: string[] }
> = {
  environment: {
    fields: { envs: ['A', 'B'].map((key) => ({ key, value: Buffer.from('1') })) },
    adjust: {
      env: [
        { key: '-A', value: '' },
        { key: 'B', value: '2' },
        { key: 'C', value: 'a=b' },
      ],
    },
    script: 'tr "\\0" "\\n" < /proc/1/environ | grep "^[ABC]="',
    shown: ['B=2', 'C=a=b'],
  },
  arguments: {
    adjust: { args: ['', 'sleep', '777'] },
    script: 'tr "\\0" " " < /proc/1/cmdline',
    shown: ['sleep 777'],
  },
  mounts: {
    fields: { mounts: [{ containerPath: '/asked', hostPath: '/etc', readonly: true }] },
    adjust: {
      mounts: [
        { destination: '-/asked' },
        { destination: '/dev/shm', type: 'tmpfs', source: 'tmpfs', options: ['rw', 'size=4m'] },
        { destination: '/added', type: 'bind', source: '/etc', options: ['rbind', 'ro'] },
      ],
    },
    script:
      "awk '$2 ~ \"^/(asked|dev/shm|added)$\" {print $2}' /proc/1/mounts; df -k /dev/shm | awk 'NR == 2 {print $2}'; " +
      'touch /added/x 2>&1 | grep -o Read-only; ls -d /asked 2>&1 | grep -o "No such"',
    shown: ['/added', '/dev/shm', '4096', 'Read-only', 'No such'],
  },
  devices: {
    fields: { devices: [{ containerPath: '/dev/asked', hostPath: '/dev/null', permissions: 'rwm' }] },
    adjust: {
      linux: {
        devices: [
          { path: '-/dev/asked' },
          {
            ...{ path: '/dev/added', type: 'c', major: 1n, minor: 3n },
            ...{ fileMode: { value: 0o640 }, uid: { value: 5 }, gid: { value: 6 } },
          },
          { path: '/dev/block', type: 'b', major: 7n, minor: 0n },
        ],
      },
    },
    script:
      'stat -c "%F %t:%T %a %u %g" /dev/added; stat -c "%F %t:%T" /dev/block; echo x > /dev/added && echo written; ' +
      'ls /dev/asked 2>&1 | grep -o "No such"',
    shown: ['character special file 1:3 640 5 6', 'block special file 7:0', 'written', 'No such'],
  },
  rlimits: {
    adjust: {
      rlimits: [
        { type: 'RLIMIT_CORE', soft: 0n, hard: 4096n },
        { type: 'RLIMIT_NOFILE', soft: 333n, hard: 444n },
      ],
    },
    // reads PID 1's limits rather than those of the exec process, whose soft limit runc may raise
    script: "awk '/core file|open files/ {print $(NF - 2), $(NF - 1)}' /proc/1/limits",
    shown: ['0 4096', '333 444'],
  },
  'OOM score': {
    adjust: { linux: { oomScoreAdj: { value: 555n } } },
    script: 'cat /proc/1/oom_score_adj',
    shown: ['555'],
  },
  sysctls: {
    adjust: { linux: { sysctl: { 'net.ipv4.ip_unprivileged_port_start': '77', 'kernel.msgmax': '9000' } } },
    script: 'cd /proc/sys; cat net/ipv4/ip_unprivileged_port_start kernel/msgmax',
    shown: ['77', '9000'],
  },
  'seccomp policy': {
    adjust: {
      linux: {
        seccompPolicy: {
          defaultAction: 'SCMP_ACT_ALLOW',
          syscalls: [{ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO', errnoRet: { value: 95 } }],
        },
      },
    },
    script: 'mkdir /made 2>&1 | grep -o "[^:]*$"; awk \'/^Seccomp:/ {print $2}\' /proc/1/status',
    shown: ['Operation not supported', '2'],
  },
  'CDI devices': {
    adjust: { cdiDevices: [{ name: 'example.com/device=one' }] },
    script: 'tr "\\0" "\\n" < /proc/1/environ | grep "^CDI"; stat -c %t:%T /dev/cdi; ls /cdi/one',
    shown: ['CDI=yes', '1:5', '/cdi/one'],
  },
  CPUs: {
    adjust: { linux: { resources: { cpu: { cpus: '0', mems: '0' } } } },
    script: "awk '/^(Cpus|Mems)_allowed_list/ {print $2}' /proc/1/status",
    shown: ['0', '0'],
  },
};

for (const [name, { adjust, fields, script, shown }] of Object.entries(EFFECTS))
  test(`adjusted in the container: ${name}`, async () => {
    mkdirSync(join(directory, 'cdi'), { recursive: true });
    writeFileSync(join(directory, 'cdi', 'one'), '');
    writeFileSync(join(directory, 'cdi', 'device.json'), JSON.stringify(CDI_SPECIFICATION));
    const containerId = await startAdjusted(name.replaceAll(' ', '-').toLowerCase(), adjust, fields);
    assert.deepEqual((await output(containerId, script)).split('\n'), shown);
  });

const CDI_SPECIFICATION = {
  cdiVersion: '0.5.0',
  kind: 'example.com/device',
  devices: [
    {
      name: 'one',
      containerEdits: {
        env: ['CDI=yes'],
        deviceNodes: [{ path: '/dev/cdi', hostPath: '/dev/zero' }],
        mounts: [{ hostPath: join(directory, 'cdi'), containerPath: '/cdi', options: ['rbind', 'ro'] }],
      },
    },
  ],
};

test('limits set by plugins are those that a client can request', async () => {
  const files = [
    ['cpu', 'cpu.shares', 'cpu.weight'],
    ['cpu', 'cpu.cfs_quota_us', 'cpu.max'],
    ['cpu', 'cpu.cfs_period_us', 'cpu.max'],
    ['memory', 'memory.limit_in_bytes', 'memory.max'],
    ['memory', 'memory.memsw.limit_in_bytes', 'memory.swap.max'],
  ] as const;
  const limitsOf = (containerId: string) =>
    Promise.all(files.map(([controller, ...names]) => limitOf(containerId, controller, names)));
  const limit = 96n << 20n;
  const requested = {
    ...{ cpuShares: 300n, cpuQuota: 20_000n, cpuPeriod: 50_000n },
    ...{ memoryLimitInBytes: limit, memorySwapLimitInBytes: limit + (32n << 20n) },
  };
  const asked = await create(pod, 'asked', undefined, { linux: { resources: requested } });
  await runtime.cri.runtime.startContainer({ containerId: asked });
  const value = (number: bigint) => ({ value: number });
  const adjusted = await startAdjusted('limited', {
    linux: {
      resources: {
        cpu: { shares: value(300n), quota: value(20_000n), period: value(50_000n) },
        memory: { limit: value(limit), swap: value(limit + (32n << 20n)) },
      },
    },
  });
  assert.deepEqual(await limitsOf(adjusted), await limitsOf(asked));
  assert.equal(await limitOf(adjusted, 'memory', ['memory.limit_in_bytes', 'memory.max']), String(limit));
  const { status } = await runtime.cri.runtime.containerStatus({ containerId: adjusted });
  assert.equal(status?.resources?.linux?.memoryLimitInBytes, limit);
});

test('limits that only plugins can set take effect, and remain in effect after an update', async () => {
  const resources = { pids: { limit: 55n }, memory: { reservation: { value: 32n << 20n } } };
  const containerId = await startAdjusted('plugins-only', { linux: { resources } });
  const check = async () => {
    assert.equal(await limitOf(containerId, 'pids', ['pids.max', 'pids.max']), '55');
    const reservation = await limitOf(containerId, 'memory', ['memory.soft_limit_in_bytes', 'memory.low']);
    assert.equal(reservation, String(32 << 20));
  };
  await check();
  await runtime.cri.runtime.updateContainerResources({ containerId, linux: { cpuShares: 400n } });
  await check();
});

test('settings specific to one cgroup version take effect on hosts with that version', async () => {
  const isV1 = cgroups.mode !== 'v2';
  const value = (number: bigint) => ({ value: number });
  const resources = isV1
    ? { memory: { swappiness: value(33n), disableOomKiller: { value: true }, limit: value(64n << 20n) } }
    : { unified: { 'memory.high': String(48 << 20) } };
  const containerId = await startAdjusted('of-one-version', { linux: { resources } });
  if (isV1) {
    assert.equal(await limitOf(containerId, 'memory', ['memory.swappiness', '']), '33');
    assert.match(await limitOf(containerId, 'memory', ['memory.oom_control', '']), /^oom_kill_disable 1$/m);
  } else assert.equal(await limitOf(containerId, 'memory', ['', 'memory.high']), String(48 << 20));
});

test('namespaces are removed, replaced and added', async () => {
  const namespace = (pid: number | string, type: string) => readlinkSync(`/proc/${pid}/ns/${type}`);
  const other = await create(await runPod('other'), 'other');
  await runtime.cri.runtime.startContainer({ containerId: other });
  const otherPid = await pidOf(other);
  const removed = await pidOf(await startAdjusted('in-host-ipc', { linux: { namespaces: [{ type: '-ipc' }] } }));
  assert.equal(namespace(removed, 'ipc'), namespace('self', 'ipc'));
  const path = `/proc/${otherPid}/ns/ipc`;
  const namespaces = [{ type: 'ipc', path }, { type: 'cgroup' }];
  const replaced = await pidOf(await startAdjusted('in-other-ipc', { linux: { namespaces } }));
  assert.equal(namespace(replaced, 'ipc'), namespace(otherPid, 'ipc'));
  assert.notEqual(namespace(replaced, 'cgroup'), namespace('self', 'cgroup'));
  assert.notEqual(namespace(replaced, 'cgroup'), namespace(otherPid, 'cgroup'));
});

test('hooks of every stage run, and receive the adjusted annotations', async () => {
  const log = join(directory, 'hooks');
  const hook = (stage: string, file = log) => [
    { path: '/bin/sh', args: ['sh', '-c', `echo ${stage} $NAME >> ${file}`], env: ['NAME=value'] },
  ];
  const state = join(directory, 'state.json');
  const containerId = await startAdjusted('hooked', {
    annotations: { adjusted: 'yes', '-io.kubernetes.cri.container-type': '' },
    hooks: {
      prestart: hook('prestart'),
      createRuntime: [
        ...hook('createRuntime'),
        { path: '/bin/sh', args: ['sh', '-c', `cat > ${state}`], timeout: { value: 10n } },
      ],
      createContainer: hook('createContainer'),
      startContainer: hook('startContainer', '/hooks'), // in the container's file system
      poststart: hook('poststart'),
      poststop: hook('poststop'),
    },
  });
  const before = ['prestart', 'createRuntime', 'createContainer', 'poststart'].map((stage) => `${stage} value\n`);
  assert.equal(readFileSync(log, 'utf8'), before.join(''));
  assert.equal(await output(containerId, 'cat /hooks'), 'startContainer value');
  const { annotations } = JSON.parse(readFileSync(state, 'utf8')) as { annotations: Record<string, string> };
  assert.equal(annotations.adjusted, 'yes');
  assert.ok(!('io.kubernetes.cri.container-type' in annotations));
  await runtime.cri.runtime.removeContainer({ containerId });
  const isStopped = () => readFileSync(log, 'utf8').endsWith('poststop value\n') || undefined;
  await waitFor(isStopped, { intervalMs: 20, signal: AbortSignal.timeout(20_000) });
});

test('a container in a different cgroup is measured, updated and removed there', async () => {
  const cgroupsPath = `${place.options.cgroupParent}/adjusted`;
  const containerId = await startAdjusted('moved', { linux: { cgroupsPath } });
  const memory = () => limitOf(containerId, 'memory', ['memory.limit_in_bytes', 'memory.max']);
  assert.match(readFileSync(`/proc/${await pidOf(containerId)}/cgroup`, 'utf8'), new RegExp(`:${cgroupsPath}$`, 'm'));
  await runtime.cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 80n << 20n } });
  assert.equal(await memory(), String(80 << 20));
  const { stats } = await runtime.cri.runtime.containerStats({ containerId });
  assert.ok((stats?.memory?.workingSetBytes?.value ?? 0n) > 0n);
  await runtime.cri.runtime.removeContainer({ containerId });
});

test('a later plugin removes what an earlier one has added', async () => {
  const added: Adjustment = {
    annotations: { added: 'yes' },
    env: [{ key: 'ADDED', value: 'yes' }],
    mounts: [{ destination: '/added', type: 'tmpfs', source: 'tmpfs' }],
    args: ['sh', '-c', 'exec sleep 1'],
    linux: {
      devices: [{ path: '/dev/added', type: 'c', major: 1n, minor: 3n }],
      sysctl: { 'kernel.msgmax': '9001' },
      netDevices: { eth9: { name: 'x' } },
      rdt: { closId: { value: 'gold' } },
    },
  };
  const removed: Adjustment = {
    annotations: { '-added': '' },
    env: [{ key: '-ADDED', value: '' }],
    mounts: [{ destination: '-/added' }],
    args: ['', 'sleep', '778'],
    linux: {
      devices: [{ path: '-/dev/added' }],
      sysctl: { '-kernel.msgmax': '' },
      netDevices: { '-eth9': {} },
      rdt: { remove: true },
    },
  };
  const containerId = await withPlugin({ createContainer: () => ({ adjust: added }) }, () =>
    withPlugin({ createContainer: () => ({ adjust: removed }) }, () => create(pod, 'removed'), { index: '20' }),
  );
  await runtime.cri.runtime.startContainer({ containerId });
  const script =
    'tr "\\0" " " < /proc/1/cmdline; echo; tr "\\0" "\\n" < /proc/1/environ | grep -c ADDED; ' +
    'grep -c " /added " /proc/1/mounts; ls /dev/added 2>&1 | grep -o "No such"; cat /proc/sys/kernel/msgmax';
  const lines = (await output(containerId, script)).split('\n').map((line) => line.trim());
  assert.deepEqual(lines.slice(0, 4), ['sleep 778', '0', '0', 'No such']);
  assert.notEqual(lines[4], '9001');
  const { runtimeSpec } = await infoOf(containerId);
  assert.ok(!('added' in runtimeSpec.annotations));
});

test('an unknown CDI device fails the creation and is named', async () => {
  const adjust = { cdiDevices: [{ name: 'example.com/none=0' }] };
  await assert.rejects(createAdjusted('no-device', adjust), /example\.com\/none=0/);
});

test('settings that the host does not support fail the creation by name, leaving nothing behind', async () => {
  const isV1 = cgroups.mode !== 'v2';
  const hasHugepages = treeOf(cgroups, 'hugetlb')?.version === (isV1 ? 1 : 2);
  const cases: [name: string, isSupported: boolean, linux: NonNullable<Adjustment>['linux']][] = [
    ['block I/O class', false, { resources: { blockioClass: { value: 'slow' } } }],
    ['RDT class', existsSync('/sys/fs/resctrl/schemata'), { resources: { rdtClass: { value: 'gold' } } }],
    ['RDT', existsSync('/sys/fs/resctrl/schemata'), { rdt: { schemata: { value: ['L3:0=f'] } } }],
    ['huge page limit', hasHugepages, { resources: { hugepageLimits: [{ pageSize: '2MB', limit: 1n << 21n }] } }],
    ['files of cgroup v2', !isV1, { resources: { unified: { 'memory.high': '50000000' } } }],
    ['kernel memory limit', false, { resources: { memory: { kernel: { value: 1n << 26n } } } }],
    ['swappiness', isV1, { resources: { memory: { swappiness: { value: 1n } } } }],
    ['realtime CPU time', isV1, { resources: { cpu: { realtimeRuntime: { value: 1n } } } }],
    ['I/O priority', ociMinor >= 1, { ioPriority: { class: 2, priority: 5 } }],
    ['scheduler', ociMinor >= 1, { scheduler: { policy: 4, nice: 5 } }],
    ['network devices', ociMinor >= 3, { netDevices: { eth9: { name: 'x' } } }],
    ['memory policy', ociMinor >= 3, { memoryPolicy: { mode: 2, nodes: '0' } }],
  ];
  const unsupported = cases.filter(([, isSupported]) => !isSupported);
  assert.ok(unsupported.length >= 2);
  const removed: string[] = [];
  for (const [name, , linux] of unsupported) {
    const handlers: PluginHandlers = {
      createContainer: () => ({ adjust: { linux } }),
      removeContainer: ({ container }) => void removed.push(container!.name),
    };
    const creation = withPlugin(handlers, () => create(pod, 'unsupported'));
    await assert.rejects(creation, new RegExp(`this host does not support ${name}$`));
  }
  assert.equal(removed.length, unsupported.length);
  const { containers } = await runtime.cri.runtime.listContainers({ filter: { podSandboxId: pod } });
  assert.ok(containers.every(({ metadata }) => metadata?.name !== 'unsupported'));
});

test('huge pages, scheduler, I/O priority, memory policy and network devices take effect if the host supports them', async () => {
  const link = `pwn${process.pid}`;
  const hasHugepages = treeOf(cgroups, 'hugetlb')?.version === (cgroups.mode === 'v2' ? 2 : 1);
  if (ociMinor >= 3) await runChecked('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', `${link}p`]);
  const linux = {
    ...(hasHugepages && { resources: { hugepageLimits: [{ pageSize: '2MB', limit: 1n << 21n }] } }),
    ...(ociMinor >= 1 && { ioPriority: { class: 2, priority: 5 }, scheduler: { policy: 4, nice: 5 } }),
    ...(ociMinor >= 3 && { netDevices: { [link]: { name: 'moved' } }, memoryPolicy: { mode: 2, nodes: '0' } }),
  };
  const containerId = await startAdjusted('of-newer-hosts', { linux });
  const pid = await pidOf(containerId);
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  const [nice, policy] = [stat[16], stat[38]];
  assert.deepEqual([nice, policy], ociMinor >= 1 ? ['5', '3'] : ['0', '0']);
  if (ociMinor >= 1) assert.match(await output(containerId, 'ionice -p 1'), /best-effort: prio 5/);
  if (hasHugepages)
    assert.equal(
      await limitOf(containerId, 'hugetlb', ['hugetlb.2MB.limit_in_bytes', 'hugetlb.2MB.max']),
      String(1 << 21),
    );
  if (ociMinor < 3) return;
  assert.match(readFileSync(`/proc/${pid}/numa_maps`, 'utf8'), /bind:0/);
  assert.match(await output(containerId, 'ip link show moved'), /moved/);
  assert.ok(!existsSync(`/sys/class/net/${link}`));
});
