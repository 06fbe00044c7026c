import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KeyedLock, noFailpoint, silentLogger } from '@podwright/base';
import {
  create,
  LinuxSandboxSecurityContextSchema,
  type MessageInitShape,
  PodSandboxFilterSchema,
  PodSandboxState,
  SecurityProfile_ProfileType as ProfileType,
} from '@podwright/cri';
import { EngineError } from '../engine/engine-error.ts';
import type { ContainerSpec } from '../engine/engine-types.ts';
import type { DockershimServices } from '../services.ts';
import { createSandbox, holderOfName } from './create-sandbox.ts';
import { recoverSandboxes, recoveryOf } from './recover-sandboxes.ts';
import { resolvConf } from './resolv-conf.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { engineFilter } from './sandbox-list.ts';
import { sandboxSecurityOptions } from './security-options.ts';

test('startup removes unfinished sandboxes, and keeps exited ones for the client', () => {
  const check = (state: string, hasNetwork: boolean, isOccupied: boolean, expected: string) =>
    assert.equal(recoveryOf({ state, hasNetwork, isOccupied }), expected, `${state} ${hasNetwork} ${isOccupied}`);
  check('created', true, false, 'roll back');
  check('created', false, false, 'roll back');
  check('created', false, true, 'keep');
  check('running', false, false, 'roll back');
  check('running', false, true, 'end');
  check('running', true, false, 'keep');
  check('exited', false, false, 'keep');
  check('dead', false, true, 'keep');
});

test('the Engine filters by state and labels only for ready sandboxes, so that no sandbox appears to lack its container', () => {
  const check = (filter: MessageInitShape<typeof PodSandboxFilterSchema> | undefined, expected: object) =>
    assert.deepEqual(engineFilter(filter && create(PodSandboxFilterSchema, filter)), expected);
  const type = 'io.kubernetes.docker.type=podsandbox';
  const labelSelector = { app: 'x' };
  check(undefined, { label: [type] });
  check({ labelSelector }, { label: [type] });
  check({ id: 'ab12' }, { label: [type], id: ['ab12'] });
  check({ id: '.*' }, { label: [type] });
  check({ state: { state: PodSandboxState.SANDBOX_NOTREADY }, labelSelector }, { label: [type] });
  const ready = { label: [type, 'app=x'], status: ['running'] };
  check({ state: { state: PodSandboxState.SANDBOX_READY }, labelSelector }, ready);
});

test("resolv.conf has the pod's DNS settings", () => {
  const dns = { servers: ['1.1.1.1', '::1'], searches: ['a', 'b'], options: ['ndots:5', 'debug'] };
  assert.equal(resolvConf(dns), 'search a b\nnameserver 1.1.1.1\nnameserver ::1\noptions ndots:5 debug\n');
  assert.equal(resolvConf({ servers: [], searches: [], options: [] }), '');
});

test('security profiles become options of the Engine', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-seccomp-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'profile.json');
  writeFileSync(path, '{ "defaultAction": "SCMP_ACT_ALLOW" }');
  const optionsOf = (security: MessageInitShape<typeof LinuxSandboxSecurityContextSchema>) =>
    sandboxSecurityOptions(create(LinuxSandboxSecurityContextSchema, security));
  const check = async (security: MessageInitShape<typeof LinuxSandboxSecurityContextSchema>, expected: string[]) =>
    assert.deepEqual(await optionsOf(security), ['no-new-privileges', ...expected]);
  const { RuntimeDefault, Unconfined, Localhost } = ProfileType;
  const local = { profileType: Localhost, localhostRef: path };
  await check({}, []);
  await check({ seccomp: { profileType: RuntimeDefault }, apparmor: { profileType: RuntimeDefault } }, []);
  const unconfined = { seccomp: { profileType: Unconfined }, apparmor: { profileType: Unconfined } };
  await check(unconfined, ['seccomp=unconfined', 'apparmor=unconfined']);
  await check({ seccompProfilePath: 'unconfined' }, ['seccomp=unconfined']);
  await check({ seccomp: local }, ['seccomp={"defaultAction":"SCMP_ACT_ALLOW"}']);
  await check({ seccomp: local, privileged: true }, []);
  await check({ apparmor: { profileType: Localhost, localhostRef: 'localhost/mine' } }, ['apparmor=mine']);
  await check({ selinuxOptions: { user: 'u', type: 't' } }, ['label=user:u', 'label=type:t']);
  writeFileSync(path, '{');
  await assert.rejects(optionsOf({ seccomp: local }), { code: 'invalid_argument' });
  const relative = { profileType: Localhost, localhostRef: 'localhost/x.json' };
  await assert.rejects(optionsOf({ seccomp: relative }), /"x.json" is not an absolute path/);
});

const conflict = (name: string, id: string) =>
  new EngineError(
    409,
    `create container ${name}: Conflict. The container name "/${name}" is already in use by container "${id}". You have to`,
  );

test('the holder of a name is parsed from name conflicts only', () => {
  const id = 'ab'.repeat(32);
  assert.equal(holderOfName(conflict('k8s_x', id)), id);
  assert.equal(holderOfName(new EngineError(409, 'removal of container x is already in progress')), undefined);
  assert.equal(holderOfName(new EngineError(500, conflict('k8s_x', id).message)), undefined);
  assert.equal(holderOfName(conflict('k8s_x', '../../x')), undefined);
});

/** A fake Engine without containers; each creation fails with the next of these errors. */
function faultyEngine(errors: Error[]) {
  const [tried, ensured]: [string[], string[]] = [[], []];
  const containers = {
    create: async (name: string) => {
      tried.push(name);
      const error = errors.shift();
      if (error !== undefined) throw error;
      return 'new-id';
    },
    inspect: async () => {
      throw new EngineError(404, 'no such container');
    },
  };
  const services = {
    engine: { containers },
    logger: silentLogger,
    failpoint: noFailpoint,
  } as unknown as DockershimServices;
  const dependencies = {
    services,
    ensureImage: async (image: string) => void ensured.push(image),
    names: new KeyedLock(),
    unfinished: new Set<string>(),
  } as unknown as SandboxDependencies;
  return { tried, ensured, dependencies };
}

const wanted = { name: 'k8s_POD_a_b_c_0', spec: { Image: 'pause' } as ContainerSpec };
const signal = AbortSignal.timeout(60_000);

test('a name still held by a removed container gets a suffix', async () => {
  const { tried, dependencies } = faultyEngine([conflict(wanted.name, 'ab'.repeat(32))]);
  assert.equal(await createSandbox(dependencies, wanted, signal), 'new-id');
  assert.match(tried[1]!, /^k8s_POD_a_b_c_0_[0-9a-f]{8}$/);
});

test('a missing image is pulled, and the creation is retried a bounded number of times', async () => {
  const missing = () => new EngineError(404, 'create container x: No such image: pause');
  const { ensured, dependencies } = faultyEngine([missing()]);
  assert.equal(await createSandbox(dependencies, wanted, signal), 'new-id');
  assert.deepEqual(ensured, ['pause']);
  const never = faultyEngine([missing(), missing(), missing(), missing(), missing()]);
  await assert.rejects(createSandbox(never.dependencies, wanted, signal), /No such image/);
  assert.equal(never.tried.length, 4);
});

test('a running sandbox is kept if its network is set up, which its network namespace can show', async () => {
  const id = 'ab'.repeat(32);
  const killed: string[] = [];
  const recover = async (answer: (netnsPath: string | undefined) => boolean) => {
    const container = { Id: id, Names: ['/k8s_POD_web_shop_u_0'], State: 'running' };
    const sandbox = { ...container, Labels: { 'io.kubernetes.docker.type': 'podsandbox' } };
    const inside = { ...container, Id: 'cd', Labels: { 'io.kubernetes.sandbox.id': id } };
    const containers = {
      list: async ({ label: [label] }: { label: string[] }) => [label!.endsWith('=podsandbox') ? sandbox : inside],
      inspect: async () => ({ State: { Running: true, Pid: 42 } }),
      kill: async (one: string) => void killed.push(one),
    };
    const network = {
      name: 'cni',
      isSetUp: async (_pod: unknown, netnsPath: () => Promise<string | undefined>) => answer(await netnsPath()),
    };
    const checkpoints = {
      sweep: async () => undefined,
      ids: async () => [id],
      read: async () => ({ network: 'cni', hostNetwork: false, name: 'web', namespace: 'shop', uid: 'u' }),
    };
    const services = { engine: { containers }, network, logger: silentLogger };
    await recoverSandboxes({ services, checkpoints } as unknown as SandboxDependencies, signal);
  };
  await recover((netnsPath) => netnsPath === '/proc/42/ns/net');
  assert.deepEqual(killed, []);
  await recover(() => false);
  assert.deepEqual(killed, [id]);
});
