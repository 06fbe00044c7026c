import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked, silentLogger, waitFor } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { makeExampleImage, writeExampleArchive } from '../scripts/example-image.ts';

/** A running CRI runtime under measurement. */
export type RuntimeUnderTest = { name: string; cri: CriClient; pid: number; stop: () => Promise<void> };

export const IMAGE = 'localhost/podwright/busybox:1';
const PAUSE_IMAGE = 'localhost/podwright/pause:1';
const BUNDLE = new URL('../dist/podwright.js', import.meta.url).pathname;

/** The same network configuration for both sides but for the bridge and its subnet. */
function networkList(bridge: string, subnet: string, dataDir: string): string {
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: bridge,
    plugins: [
      {
        type: 'bridge',
        bridge,
        isGateway: true,
        ipMasq: true,
        ipam: { type: 'host-local', dataDir, ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
}

function startDaemon(scratch: string, name: string, command: string[]): ChildProcess {
  const log = openSync(join(scratch, `${name}.log`), 'a');
  return spawn(command[0]!, command.slice(1), {
    stdio: ['ignore', log, log],
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  });
}

async function stopDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null) return;
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  await ended;
}

/** Debian's containerd with runc, all of it in `scratch`. */
export async function startContainerd(scratch: string): Promise<RuntimeUnderTest> {
  const directory = join(scratch, 'containerd');
  mkdirSync(join(directory, 'cni'), { recursive: true });
  mkdirSync(join(directory, 'certs'), { recursive: true });
  writeFileSync(
    join(directory, 'cni/10-bench.conflist'),
    networkList('pwbench0', '10.201.0.0/16', join(directory, 'ipam')),
  );
  const socket = join(directory, 'c.sock');
  const config = `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "${directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${PAUSE_IMAGE}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${directory}/certs"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;
  writeFileSync(join(directory, 'config.toml'), config);
  const daemon = startDaemon(scratch, 'containerd', ['containerd', '--config', join(directory, 'config.toml')]);
  const cri = await connectCri({ runtimeEndpoint: `unix://${socket}`, logger: silentLogger, connectTimeoutMs: 30_000 });
  for (const [name, config] of [
    [IMAGE, {}],
    [PAUSE_IMAGE, { Entrypoint: ['/bin/sleep', '1000000000'], Cmd: [] }],
  ] as const) {
    const archive = join(scratch, 'containerd-image.tar');
    await writeExampleArchive(archive, { name, config });
    await runChecked('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
  }
  return {
    name: 'containerd',
    cri,
    pid: daemon.pid!,
    stop: async () => {
      cri.close();
      await stopDaemon(daemon);
    },
  };
}

/** Flags that keep one Podwright node apart from everything else on the host. */
export function nodeFlags(directory: string, network: { bridge: string; subnet: string; shared?: boolean }): string[] {
  const conf = join(directory, 'cni');
  mkdirSync(conf, { recursive: true });
  if (network.shared)
    writeFileSync(
      join(conf, '10-bench.conflist'),
      networkList(network.bridge, network.subnet, join(directory, 'ipam')),
    );
  return [
    ...['--root', join(directory, 'root'), '--state', join(directory, 'run'), '--pod-logs', join(directory, 'logs')],
    ...[
      '--cgroup-parent',
      `/${network.bridge}`,
      '--bridge',
      network.bridge,
      '--subnet',
      network.subnet,
      '--cni-conf-dir',
      conf,
    ],
    ...['--log-level', 'warn'],
  ];
}

/** Podwright's runtime, or its whole node (`command`), with the bench's network configuration. */
export async function startPodwright(
  scratch: string,
  command: 'runtime' | 'node',
): Promise<RuntimeUnderTest & { directory: string }> {
  const directory = join(scratch, `pw-${command}`);
  const flags = nodeFlags(directory, {
    bridge: command === 'node' ? 'pwbench2' : 'pwbench1',
    subnet: command === 'node' ? '10.203.0.0/16' : '10.202.0.0/16',
    shared: true,
  });
  const daemon = startDaemon(scratch, `podwright-${command}`, [process.execPath, BUNDLE, ...flags, command]);
  const cri = await connectCri({
    runtimeEndpoint: `unix://${directory}/run/cri.sock`,
    logger: silentLogger,
    connectTimeoutMs: 30_000,
  });
  const layout = join(scratch, `layout-${command}`);
  await makeExampleImage(layout);
  for await (const { event } of cri.transfers.load({ path: layout, name: '' })) if (event.case === 'loaded') break;
  return {
    name: 'podwright',
    cri,
    pid: daemon.pid!,
    directory,
    stop: async () => {
      cri.close();
      await stopDaemon(daemon);
    },
  };
}

/** Waits until `probe` tells something, for at most a minute. */
export function until<T>(probe: () => Promise<T | undefined> | T | undefined, intervalMs = 5): Promise<T> {
  return waitFor(probe, { intervalMs, signal: AbortSignal.timeout(60_000) });
}
