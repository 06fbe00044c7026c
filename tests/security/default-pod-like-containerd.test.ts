/** A pod that asks for nothing special looks for a way out: it finds none that it would not find on containerd 1.6 too. */
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
  // The first CNI bridge of a host switches it on; namespaces of pods take it over from there.
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

/** A difference that takes nothing from the host: its line, `KEY: containerd's | ours`, and why it is there. */
type Known = { line: RegExp; why: string };

const EVERYWHERE: Known[] = [
  {
    line: /^status SigIgn: 0+80000000 \| 0+$/,
    why: 'make lets what it starts ignore a signal of the C library, which containerd passes on to its pods',
  },
  {
    line: /^sysctl net\.ipv4\.(ip_unprivileged_port_start: 1024 \| 0|ping_group_range: 1 0 \| 0 2147483647)$/,
    why: "of the pod's own network namespace, and the default of containerd 2",
  },
  {
    line: /^self attr\/current: cri-containerd\.apparmor\.d \(enforce\) \| podwright-default \(enforce\)$/,
    why: "each runtime's own AppArmor profile, which says the same",
  },
  {
    line: /^(status Cap(Prm|Eff|Bnd): 0+a80425fb \| 0+a80405fb|try raw socket: works \| fails)$/,
    why: 'NET_RAW is for pods of a lone node that add it',
  },
  {
    line: /^limit Max open files +: .* \| 1024 +\d+ +files$/,
    why: 'what systemd gives services, and containerd 2 to pods',
  },
];

const CRUN: Known[] = [
  {
    line: /^mount \/sys: .* \| root=\/ ro,nosuid,nodev,noexec,relatime sysfs sysfs rw$/,
    why: 'read-only as a mount: only who may mount could change that',
  },
  {
    line: /^mount \/sys\/fs\/cgroup: .* \| root=\/ rw,nosuid,nodev,noexec,relatime tmpfs cgroup rw,size=1024k$/,
    why: 'a bounded file system where runc has one of half the memory',
  },
  {
    line: /^mount \/proc\/(bus|fs|irq|sys|sysrq-trigger): .* \| root=\/[\w-]+ ro,relatime proc proc rw$/,
    why: 'read-only as well; there are no programs and no devices in these directories of the kernel',
  },
  {
    line: /^mount \/(proc\/(acpi|asound|scsi)|sys\/(firmware|devices\/virtual\/powercap)): .* \| root=\/ ro,relatime tmpfs tmpfs rw,size=0k$/,
    why: 'an empty directory, read-only as a mount',
  },
  {
    line: /^mount \/proc\/\w+: .* \| root=\/null ro,relatime devtmpfs devtmpfs [\w,=]+$/,
    why: "/dev/null of the host, read-only, where runc has the container's",
  },
  {
    line: /^mount \/sys\/fs\/cgroup: (root=\/ ro,nosuid,nodev,noexec,relatime cgroup2) cgroup (.*) \| \1 cgroup2 \2$/,
    why: 'the source of a mount that has none',
  },
  {
    line: /^cgroup folder \/sys\/fs\/cgroup(: \d+ {2}\| \d+ |\/(misc|rdma)\.[\w.]+: 1 {2}\| none)$/,
    why: 'on cgroup v2 crun leaves the controllers misc and rdma off, whose files the container cannot write',
  },
  {
    line: /^cgroup 0:: \/PARENT\/.* \| \/$/,
    why: 'on hybrid hosts crun is kept out of the tree of v2, which limits nothing there',
  },
  {
    line: /^devices cgroup: .* c 10:200 rwm .* \| (?!.* 10:200).* c 5:0 rwm c 5:1 rwm c 5:2 rwm$/,
    why: 'crun allows every container the console, and runc /dev/net/tun',
  },
  { line: /^dev \/dev\/core: (none \| .* -> \/proc\/kcore|.* \| none)$/, why: 'a link to a file that is masked' },
  {
    line: /^cgroup folder \/sys\/fs\/cgroup(: \d+ writable \| \d+ writable|\/net_(cls|prio): none \| 0 )$/,
    why: 'links that crun makes in it, of controllers that are not there',
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
