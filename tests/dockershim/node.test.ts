/** A node with `runtime = "docker"`, started from the bundled command. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { cgroupExists, discoverCgroups } from '@podwright/host';
import { connectEngine } from '../../packages/dockershim/src/engine/engine.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { busyboxImage, type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';

let docker: DockerEngine;
let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
  docker = await startDockerEngine();
});
after(async () => {
  await docker.stop();
  await bundle.remove();
});

test('run reports at once that Docker Engine is missing, and what to do about it', async () => {
  const config = join(docker.scratch, 'away.toml');
  const places = ['root', 'state'].map((key) => `${key} = "${join(docker.scratch, 'away', key)}"\n`).join('');
  writeFileSync(config, `runtime = "docker"\n${places}[dockershim]\ndocker_endpoint = "/nonexistent/docker.sock"\n`);
  const run = new StartedProgram([process.execPath, bundle.program, '--config', config, 'run', 'examples/hello.yaml']);
  const { code, err } = await run.ended();
  assert.equal(code, 1);
  assert.match(err, /does not answer on \/nonexistent\/docker.sock.*; start it, or name its socket: docker_endpoint/);
  assert.equal(existsSync(join(docker.scratch, 'away')), false);
});

test('run exits at once at Ctrl-C while waiting for an Engine that does not respond, and leaves nothing behind', async () => {
  const silent = createServer();
  const socket = join(docker.scratch, 'silent.sock');
  await once(silent.listen(socket), 'listening');
  const config = join(docker.scratch, 'silent.toml');
  const places = ['root', 'state'].map((key) => `${key} = "${join(docker.scratch, 'silent', key)}"\n`).join('');
  writeFileSync(config, `runtime = "docker"\n${places}[dockershim]\ndocker_endpoint = "${socket}"\n`);
  const run = new StartedProgram([process.execPath, bundle.program, '--config', config, 'run', 'examples/hello.yaml']);
  const [taken] = await once(silent, 'connection');
  const sinceMs = performance.now();
  run.child.kill('SIGINT');
  const { code } = await run.ended();
  assert.equal(code, 130);
  assert.ok(performance.now() - sinceMs < 5000);
  assert.equal(existsSync(join(docker.scratch, 'silent')), false);
  taken.destroy();
  silent.close();
});

test('run starts a node on a Docker Engine, exits with its pods, and leaves nothing on the host', async () => {
  const { scratch, socket } = docker;
  const cgroup = `/${basename(scratch)}`;
  const config = join(scratch, 'config.toml');
  const manifest = join(scratch, 'pod.yaml');
  const places = ['root', 'state', 'pod_logs'].map((key) => `${key} = "${join(scratch, key)}"\n`).join('');
  const settings = `cgroup_parent = "${cgroup}"\n[dockershim]\ndocker_endpoint = "${socket}"\n`;
  writeFileSync(config, `runtime = "docker"\n${places}${settings}`);
  const containers = [{ name: 'c', image: busyboxImage, command: ['echo', 'ran'] }];
  const spec = { restartPolicy: 'Never', hostNetwork: true, containers };
  writeFileSync(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'job' }, spec }));
  const run = new StartedProgram([process.execPath, bundle.program, '--config', config, 'run', '--once', manifest]);
  const { code, out, err } = await run.ended();
  assert.equal(code, 0, err);
  assert.equal(out, 'ran\n');
  const engine = await connectEngine(socket);
  assert.deepEqual(await engine.containers.list({}), []);
  engine.close();
  assert.equal(await cgroupExists(await discoverCgroups(), cgroup), false);
  assert.equal(existsSync(join(scratch, 'state/node.sock')), false);
});
