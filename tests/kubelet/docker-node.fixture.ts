import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import { runChecked, runProgram } from '@podwright/host';
import { connectEngine } from '../../packages/dockershim/src/engine/engine.ts';
import { busyboxImage, loadArchive, startDockerEngine } from '../dockershim/docker-engine.fixture.ts';
import { buildBundle } from '../pods/bundle.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { removePods, writeNetwork } from './containerd.fixture.ts';
import type { RestartableRuntime } from './suite-runtime.fixture.ts';

/**
 * Starts the bundled `podwright dockershim` on its own Docker Engine, with the same pod network as `startContainerd`. `stop` asserts that
 * pods leave nothing behind.
 */
export async function startDockerNode(name: string): Promise<RestartableRuntime> {
  const [bundle, docker] = await Promise.all([buildBundle(), startDockerEngine()]);
  const { scratch, socket: dockerSocket } = docker;
  const bridge = `pwk${name}${process.pid}`;
  const socket = join(scratch, 'cri.sock');
  writeNetwork(scratch, bridge);
  const flags = {
    'docker-endpoint': dockerSocket,
    listen: socket,
    root: join(scratch, 'node'),
    state: join(scratch, 'state'),
    'network-plugin': 'cni',
    'cni-conf-dir': join(scratch, 'cni'),
    'cni-bin-dir': '/usr/lib/cni',
    'cni-cache-dir': join(scratch, 'cni-cache'),
    'pod-infra-container-image': 'localhost/podwright/pause:1',
  };
  const line = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const spawn = () => new StartedProgram([process.execPath, bundle.program, 'dockershim', ...line]);
  let dockershim = spawn();
  const left = async () => {
    const engine = await connectEngine(dockerSocket);
    const containers = (await engine.containers.list({})).flatMap(({ Names }) => Names);
    engine.close();
    const links = await runChecked('ip', ['-o', 'link', 'show', 'master', bridge]).catch(() => '');
    return [...containers, ...links.split('\n').filter(Boolean), ...filesOfPods(scratch, bridge)];
  };
  const runtime: RestartableRuntime = {
    ...{ scratch, endpoint: `unix://${socket}`, bridge, image: busyboxImage },
    load: (archive) => loadArchive(dockerSocket, archive),
    restart: async (meanwhile) => {
      const ended = once(dockershim.child, 'exit');
      dockershim.child.kill('SIGKILL');
      await ended;
      await docker.restart(meanwhile);
      dockershim = spawn();
    },
    stop: async () => {
      await removePods(socket).catch(() => undefined);
      const remains = await left();
      dockershim.child.kill('SIGTERM');
      const { code, err } = await dockershim.ended().finally(docker.stop);
      await runProgram('ip', ['link', 'delete', bridge]);
      bundle.remove();
      assert.equal(code, 0, err);
      assert.deepEqual(remains, [], 'pods leave nothing behind');
    },
  };
  try {
    const cri = await connectCri({ runtimeEndpoint: socket, logger: silentLogger, connectTimeoutMs: 30_000 });
    cri.close();
  } catch (error) {
    await runtime.stop();
    throw new Error(dockershim.err, { cause: error });
  }
  return runtime;
}

/** Returns the files in the dockershim's checkpoints, CNI's cached results, and host-local's address reservations. */
function filesOfPods(scratch: string, bridge: string): string[] {
  const names = (directory: string) => (existsSync(directory) ? readdirSync(directory) : []);
  return [
    ...names(join(scratch, 'node/dockershim/sandboxes')),
    ...names(join(scratch, 'cni-cache/results')),
    ...names(join(scratch, 'ipam', bridge)).filter((file) => !/^(lock|last_reserved_ip.*)$/.test(file)),
  ];
}
