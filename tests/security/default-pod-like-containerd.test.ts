/** A pod with default settings has no permissions that containerd 1.6 would not give it as well. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { startContainerd } from '../kubelet/containerd.fixture.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { NO_PORTS, NodePlace } from '../pods/node.fixture.ts';
import { differences, type Facts, factsOfDefaultPod } from './container-facts.fixture.ts';

type Seen = { container: Facts; command: Facts };

let bundle: Bundle;
let containerd: Seen;
before(async () => {
  bundle = await buildBundle();
  // a host's first CNI bridge would set this, and pods' network namespaces inherit it
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  containerd = await onContainerd();
});
after(() => bundle.remove());

test('with runc', async () => check(await onNode('runc', '10.99.130.0/24'), []));
test('with crun', async () => check(await onNode('crun', '10.99.131.0/24'), CRUN));

async function onContainerd(): Promise<Seen> {
  const runtime = await startContainerd('def');
  try {
    const config = `[kubelet]\nseccomp_default = true\n${NO_PORTS}`;
    return await on('10.99.129.0/24', config, ['kubelet', '--container-runtime-endpoint', runtime.endpoint]);
  } finally {
    await runtime.stop();
  }
}

async function onNode(ociRuntime: string, subnet: string): Promise<Seen> {
  return await on(subnet, `[runtime]\noci_runtime = "${ociRuntime}"\n`, ['node']);
}

async function on(subnet: string, config: string, daemonArgs: string[]): Promise<Seen> {
  const place = new NodePlace(bundle, subnet);
  try {
    const daemon = await place.startDaemon('--config', place.file('config.toml', config), ...daemonArgs);
    if (daemonArgs[0] === 'node') await place.loadImage();
    const seen = await factsOfDefaultPod(place);
    await place.ok('delete', 'facts');
    daemon.child.kill('SIGTERM');
    await daemon.ended();
    return seen;
  } finally {
    await place.remove();
  }
}

/** A known harmless difference: a pattern for its line, `KEY: containerd's | Podwright's`, and the reason. */
type Known = { line: RegExp; why: string };

const EVERYWHERE: Known[] = [
  {
    line: /^status SigIgn: 0+80000000 \| 0+$/,
    why: 'make lets its children ignore a signal of the C library, which containerd passes to its pods',
  },
  {
    line: /^sysctl net\.ipv4\.(ip_unprivileged_port_start: 1024 \| 0|ping_group_range: 1 0 \| 0 2147483647)$/,
    why: "applies to the pod's own network namespace, and is the default of containerd 2",
  },
  {
    line: /^self attr\/current: cri-containerd\.apparmor\.d \(enforce\) \| podwright-default \(enforce\)$/,
    why: "each runtime's own AppArmor profile, with the same rules",
  },
  {
    line: /^(status Cap(Prm|Eff|Bnd): 0+a80425fb \| 0+a80405fb|try raw socket: works \| fails)$/,
    why: 'on a standalone node only pods that add NET_RAW have it',
  },
  {
    line: /^limit Max open files +: .* \| 1024 +\d+ +files$/,
    why: 'the limit of systemd services, and of pods on containerd 2',
  },
];

const CRUN: Known[] = [
  {
    line: /^mount \/sys: .* \| root=\/ ro,nosuid,nodev,noexec,relatime sysfs sysfs rw$/,
    why: 'read-only as a mount: only a process that may mount can change that',
  },
  {
    line: /^mount \/sys\/fs\/cgroup: .* \| root=\/ rw,nosuid,nodev,noexec,relatime tmpfs cgroup rw,size=1024k$/,
    why: 'a file system with a size limit, where runc has one of half the memory',
  },
  {
    line: /^mount \/proc\/(bus|fs|irq|sys|sysrq-trigger): .* \| root=\/[\w-]+ ro,relatime proc proc rw$/,
    why: 'also read-only; these directories of the kernel have no programs and no devices',
  },
  {
    line: /^mount \/(proc\/(acpi|asound|scsi)|sys\/(firmware|devices\/virtual\/powercap)): .* \| root=\/ ro,relatime tmpfs tmpfs rw,size=0k$/,
    why: 'an empty directory, read-only as a mount',
  },
  {
    line: /^mount \/proc\/\w+: .* \| root=\/null ro,relatime devtmpfs devtmpfs [\w,=]+$/,
    why: "the host's /dev/null, read-only, where runc uses the container's",
  },
  {
    line: /^mount \/sys\/fs\/cgroup: (root=\/ ro,nosuid,nodev,noexec,relatime cgroup2) cgroup (.*) \| \1 cgroup2 \2$/,
    why: 'the source of a mount without a source',
  },
  {
    line: /^cgroup folder \/sys\/fs\/cgroup(: \d+ {2}\| \d+ |\/(misc|rdma)\.[\w.]+: 1 {2}\| none)$/,
    why: 'on cgroup v2 crun does not enable the controllers misc and rdma, whose files the container cannot write',
  },
  {
    line: /^cgroup 0:: \/PARENT\/.* \| \/$/,
    why: 'on hybrid hosts crun does not use the v2 tree, which has no controllers there',
  },
  {
    line: /^devices cgroup: .* c 10:200 rwm .* \| (?!.* 10:200).* c 5:0 rwm c 5:1 rwm c 5:2 rwm$/,
    why: 'crun allows every container the console, and runc /dev/net/tun',
  },
  { line: /^dev \/dev\/core: (none \| .* -> \/proc\/kcore|.* \| none)$/, why: 'a link to a file that is masked' },
  {
    line: /^cgroup folder \/sys\/fs\/cgroup(: \d+ writable \| \d+ writable|\/net_(cls|prio): none \| 0 )$/,
    why: 'links of crun for missing controllers',
  },
];

function check(ours: Seen, known: Known[]): void {
  for (const where of ['container', 'command'] as const) {
    assert.ok(ours[where].size > 200, `${ours[where].size} facts`);
    const found = differences(containerd[where], ours[where]);
    const unknown = found.filter((line) => ![...EVERYWHERE, ...known].some(({ line: pattern }) => pattern.test(line)));
    assert.deepEqual(unknown, [], where);
  }
}
