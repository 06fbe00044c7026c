import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { MountPropagation, NamespaceMode } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const place = makeTestPlace();
const data = join(place.logs, 'data');
const runtime = new RuntimeUnderTest(place);
before(async () => {
  mkdirSync(join(data, 'below'), { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(data, 'below')]);
  await runtime.start({ snapshotter: 'native' });
});
afterEach(async () => {
  const { items } = await runtime.cri.runtime.listPodSandbox({});
  for (const { id } of items) await runtime.cri.runtime.removePodSandbox({ podSandboxId: id });
  assert.deepEqual(await runtime.remains(), []);
});
after(async () => {
  execFileSync('umount', [join(data, 'below')]);
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

const mapping = [{ containerId: 0, hostId: 300_000, length: 65_536 }];
const usernsOptions = { mode: NamespaceMode.POD, uids: mapping, gids: mapping };
type Container = { mounts?: object[]; security?: object; namespaceOptions?: object };

async function create(name: string, { mounts = [], security = {}, namespaceOptions = {} }: Container = {}) {
  const { cri, image } = runtime;
  const options = { pid: NamespaceMode.CONTAINER, ...namespaceOptions };
  const linux = { securityContext: { ...security, namespaceOptions: options } };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: { ...podOf(place, name), linux } });
  const config = { ...containerOf(image, 'main', 'exec sleep 1000'), mounts, linux };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  return { podSandboxId, containerId };
}

async function start(name: string, options?: Container) {
  const { cri } = runtime;
  const { containerId } = await create(name, options);
  await cri.runtime.startContainer({ containerId });
  const run = async (script: string) => {
    const { stdout, stderr } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
    return Buffer.from(stdout).toString() + Buffer.from(stderr).toString();
  };
  return { containerId, run };
}

const mountOf = (more: object = {}) => ({ containerPath: '/data', hostPath: data, ...more });

test('copied root file systems, images and their volumes belong to the pod’s users too', async () => {
  const image = { image: { image: runtime.image }, hostPath: '', containerPath: '/image', readonly: true };
  // kubelets map every mount, including images
  const mounts = [image, mountOf()].map((mount) => ({ ...mount, uidMappings: mapping, gidMappings: mapping }));
  const { run } = await start('copied', { mounts, namespaceOptions: { usernsOptions } });
  assert.equal(await run('stat -c %u /etc/passwd /image /image/etc/passwd /data | sort -u'), '0\n');
  assert.equal(await run('chown 5 /etc/passwd && stat -c %u /etc/passwd'), '5\n');
  assert.match(await run('touch /image/new'), /read-only/i);
  assert.equal(await run('stat -c %u /data/below'), '65534\n', 'mounts below a volume are not mapped');
});

test('mounts under a read-only mount stay writable unless it is recursively read-only', async () => {
  const only = await start('ro', { mounts: [mountOf({ readonly: true })] });
  assert.match(await only.run('touch /data/x; touch /data/below/x && echo written'), /read-only.*written|written/is);
  const all = await start('rro', { mounts: [mountOf({ readonly: true, recursiveReadOnly: true })] });
  assert.doesNotMatch(await all.run('touch /data/x /data/below/x && echo written'), /written/);
  assert.match(await all.run('touch /data/below/y'), /read-only/i);
});

test('mounts propagate only if they are shared on the host', async () => {
  const mounts = [mountOf({ propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL })];
  execFileSync('mount', ['--bind', data, data]);
  try {
    execFileSync('mount', ['--make-private', data]);
    await assert.rejects(create('private', { mounts }), { code: 'failed_precondition', message: /--make-rshared/ });
    execFileSync('mount', ['--make-shared', data]);
    const { run } = await start('shared', { mounts, security: { privileged: true } });
    await run('mkdir /data/from && mount -t tmpfs tmpfs /data/from && touch /data/from/container');
    assert.ok(existsSync(join(data, 'from/container')));
    execFileSync('umount', [join(data, 'from')]);
  } finally {
    execFileSync('umount', ['--lazy', data]);
  }
});

test('a seccomp profile from a file is applied, and not read for a privileged container', async () => {
  const file = join(data, 'profile.json');
  const rule = { names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' };
  writeFileSync(file, JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls: [rule] }));
  const seccomp = { profileType: 2, localhostRef: file };
  const { run } = await start('filtered', { security: { seccomp } });
  assert.match(await run('mkdir /x'), /not permitted/);
  const none = { profileType: 2, localhostRef: '/no/such/file' };
  await assert.rejects(create('none', { security: { seccomp: none } }), {
    message: /seccomp profile \/no\/such\/file/,
  });
  const privileged = await start('privileged', { security: { seccomp: none, privileged: true } });
  assert.equal(await privileged.run('mkdir /x && ls -d /dev/kmsg /x'), '/dev/kmsg\n/x\n');
});

test('a missing host path is created as a directory, and a link is followed', async () => {
  const missing = join(data, 'made/of/nothing');
  const { run } = await start('missing', { mounts: [mountOf({ hostPath: missing })] });
  assert.equal(await run('touch /data/x'), '');
  assert.ok(statSync(join(missing, 'x')).isFile());
});
