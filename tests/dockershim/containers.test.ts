import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { errorCode, waitFor } from '@podwright/base';
import { ContainerState, NamespaceMode, SecurityProfile_ProfileType, Signal } from '@podwright/cri';
import { CONTAINER_TYPE, LOG_PATH_LABEL, TYPE_LABEL } from '../../packages/dockershim/src/labels/labels.ts';
import { type EnginePod, startEnginePod, startSandbox, verbsOf } from './containers.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

let pod: EnginePod;
before(async () => {
  pod = await startEnginePod();
});
after(() => pod?.[Symbol.asyncDispose]());

const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;
const RuntimeDefault = { profileType: SecurityProfile_ProfileType.RuntimeDefault };
const bound = () => ({ intervalMs: 20, signal: AbortSignal.timeout(60_000) });
const hasCode = (code: string) => (error: unknown) => errorCode(error) === code;

const ended = (id: string) =>
  waitFor(async () => {
    const status = await pod.verbs.status(id);
    return status.state === CONTAINER_EXITED ? status : undefined;
  }, bound());

/** Returns the output of an exited container, read from Docker's JSON log. */
async function output(id: string): Promise<string> {
  const { logPath } = await pod.verbs.status(id);
  const lines = readFileSync(logPath!, 'utf8').trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { log: string }).log).join('');
}

async function run(name: string, config: object): Promise<string> {
  const id = await pod.verbs.create({ metadata: { name }, logPath: `${name}/0.log`, ...config });
  await pod.verbs.start(id);
  return id;
}

test('each call in a container’s life cycle is idempotent', async () => {
  const labels = { app: 'shop', 'io.kubernetes.container.name': 'web' };
  const annotations = { 'a.b/hash': '1f' };
  const metadata = { name: 'web', attempt: 2 };
  const image = { image: busyboxImage, userSpecifiedImage: 'busybox:1' };
  const id = await pod.verbs.create({ metadata, labels, annotations, image, logPath: 'web/2.log' });
  const created = await pod.verbs.status(id);
  assert.deepEqual([created.state, created.startedAt, created.metadata], [CONTAINER_CREATED, 0n, metadata]);
  assert.deepEqual([created.labels, created.annotations], [labels, annotations]);
  assert.equal(created.logPath, join(pod.logDirectory, 'web/2.log'));
  assert.deepEqual(created.image, { image: busyboxImage, userSpecifiedImage: 'busybox:1' });
  assert.equal(created.imageRef, `docker://${created.imageId}`);

  await pod.verbs.start(id);
  await pod.verbs.start(id);
  const running = await pod.verbs.status(id);
  assert.equal(running.state, CONTAINER_RUNNING);
  assert.ok(running.startedAt! > created.createdAt! && running.createdAt! > 1_600_000_000_000_000_000n);
  assert.equal((await pod.verbs.info(id)).sandboxID, pod.sandboxId);

  await pod.verbs.stop(id, 0);
  await pod.verbs.stop(id, 0);
  const stopped = await pod.verbs.status(id);
  assert.deepEqual([stopped.state, stopped.exitCode, stopped.reason], [CONTAINER_EXITED, 137, 'Error']);
  assert.ok(stopped.finishedAt! > running.startedAt!);
  await assert.rejects(pod.verbs.start(id), /it has exited, and a container cannot be started again/);

  await pod.verbs.remove(id);
  await pod.verbs.remove(id);
  await pod.verbs.stop(id, 0);
  await assert.rejects(pod.verbs.status(id), hasCode('not_found'));
  assert.throws(() => lstatSync(join(pod.logDirectory, 'web/2.log')), /ENOENT/);
});

test('a container has the requested configuration', async () => {
  const [readOnly, made] = [join(pod.docker.scratch, 'a:b'), join(pod.docker.scratch, 'made/by/mount')];
  mkdirSync(readOnly);
  writeFileSync(join(readOnly, 'f'), 'from the host\n');
  const script = `echo $A; id -u; id -g; id -G; pwd; cat /ro/f; touch /ro/x || echo no; mkdir /made/y || echo no; touch /z || echo no
    grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status; ls /dev/nul; echo $$`;
  const id = await run('seen', {
    command: ['sh', '-c'],
    args: [script],
    envs: [{ key: 'A', value: new TextEncoder().encode('a=b c') }],
    workingDir: '/var/tmp',
    mounts: [
      { hostPath: readOnly, containerPath: '/ro', readonly: true },
      { hostPath: made, containerPath: '/made' },
    ],
    devices: [{ hostPath: '/dev/null', containerPath: '/dev/nul', permissions: 'rw' }],
    linux: {
      resources: { memoryLimitInBytes: 64n << 20n, cpuShares: 512n, cpuQuota: 50_000n, cpuPeriod: 100_000n },
      securityContext: {
        runAsUser: { value: 1000n },
        runAsGroup: { value: 2000n },
        supplementalGroups: [3000n],
        readonlyRootfs: true,
        noNewPrivs: true,
        seccomp: RuntimeDefault,
        namespaceOptions: { pid: NamespaceMode.CONTAINER },
      },
    },
  });
  const status = await ended(id);
  const seen = (await output(id)).replaceAll('\t', ' ').replace(/^.*(?:touch|mkdir|sh): .*\n/gm, '');
  assert.equal(
    seen,
    `${[
      'a=b c',
      1000,
      2000,
      '2000 3000',
      '/var/tmp',
      'from the host',
      'no',
      'no',
      'no',
      'NoNewPrivs: 1',
      'Seccomp: 2',
      '/dev/nul',
      1,
    ].join('\n')}\n`,
  );
  assert.deepEqual(status.user?.linux, { uid: 1000n, gid: 2000n, supplementalGroups: [2000n, 3000n] });
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes, memorySwapLimitInBytes } = status.resources!.linux!;
  assert.deepEqual([cpuShares, cpuQuota, cpuPeriod], [512n, 50_000n, 100_000n]);
  assert.deepEqual([memoryLimitInBytes, memorySwapLimitInBytes], [64n << 20n, 64n << 20n]);
  assert.deepEqual(
    status.mounts!.map(({ hostPath, containerPath, readonly }) => [hostPath, containerPath, readonly]).sort(),
    [
      [readOnly, '/ro', true],
      [made, '/made', false],
    ].sort(),
  );
});

test('the exit reason is reported: normal exit, stop signal, out of memory, or failed start', async () => {
  const how = async (id: string) => {
    const { exitCode, reason } = await ended(id);
    return [exitCode, reason];
  };
  const own = { linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } } };
  assert.deepEqual(await how(await run('done', { command: ['true'] })), [0, 'Completed']);
  assert.deepEqual(await how(await run('bad', { command: ['sh', '-c', 'exit 7'] })), [7, 'Error']);
  const trap = "trap 'exit 21' USR1; echo ready; while :; do sleep 0.1; done";
  const asked = await run('asked', { command: ['sh', '-c', trap], stopSignal: Signal.SIGUSR1, ...own });
  await waitFor(
    () => (readFileSync(join(pod.logDirectory, 'asked/0.log'), 'utf8').includes('ready') ? true : undefined),
    bound(),
  );
  await pod.verbs.stop(asked, 60);
  assert.deepEqual(await how(asked), [21, 'Error']);
  assert.equal((await pod.verbs.status(asked)).stopSignal, Signal.SIGUSR1);
  const greedy = { command: ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=100M'] };
  const killed = await run('killed', { ...greedy, linux: { resources: { memoryLimitInBytes: 16n << 20n } } });
  assert.deepEqual(await how(killed), [137, 'OOMKilled']);

  const id = await pod.verbs.create({ metadata: { name: 'none' }, command: ['nope'] });
  await assert.rejects(pod.verbs.start(id), /exec: "nope": executable file not found in \$PATH/);
  const none = await pod.verbs.status(id);
  assert.deepEqual([none.state, none.exitCode, none.reason], [CONTAINER_EXITED, 127, 'ContainerCannotRun']);
  assert.match(none.message!, /executable file not found/);
  assert.ok(none.finishedAt === none.createdAt && none.startedAt === none.createdAt);
});

test('lists support filters, including ID prefixes, and exclude foreign containers', async () => {
  const other = await startSandbox(pod.engine, 'other');
  const elsewhere = verbsOf(pod.engine, { sandboxId: other, logDirectory: '' });
  const running = await run('listed', { labels: { tier: 'front' } });
  const created = await elsewhere.create({ metadata: { name: 'idle' }, labels: { tier: 'back' } });
  const hostile = { [TYPE_LABEL]: CONTAINER_TYPE, tier: 'front', [LOG_PATH_LABEL]: '/etc/passwd' };
  const foreign = await pod.engine.containers.create('not-ours', {
    Image: busyboxImage,
    Labels: hostile,
    HostConfig: {},
  });
  const ids = async (filter?: Parameters<typeof pod.verbs.list>[0]) =>
    (await pod.verbs.list(filter)).map(({ id }) => id);
  const all = await ids();
  assert.ok(all.includes(running) && all.includes(created) && !all.includes(foreign));
  assert.deepEqual(await ids({ labelSelector: { tier: 'front' } }), [running]);
  assert.deepEqual(await ids({ id: running.slice(0, 12) }), [running]);
  assert.deepEqual(await ids({ id: running.slice(4, 20) }), []);
  assert.deepEqual(await ids({ id: 'listed.*' }), []);
  assert.deepEqual(await ids({ podSandboxId: other }), [created]);
  assert.deepEqual(await ids({ podSandboxId: other.slice(0, 10), state: { state: CONTAINER_CREATED } }), [created]);
  assert.deepEqual(await ids({ podSandboxId: other, state: { state: CONTAINER_RUNNING } }), []);
  assert.deepEqual(await ids({ state: { state: ContainerState.CONTAINER_UNKNOWN } }), []);

  await assert.rejects(pod.verbs.status(foreign), hasCode('not_found'));
  await pod.verbs.stop(foreign);
  await pod.verbs.remove(foreign);
  await assert.rejects(pod.verbs.start(foreign), hasCode('not_found'));
  await assert.rejects(pod.verbs.update(foreign, { cpuShares: 2n }), hasCode('not_found'));
  await assert.rejects(pod.verbs.status('not-ours'), hasCode('not_found'));
  assert.equal((await pod.engine.containers.inspect(foreign)).State.Status, 'created');
});

test('a leftover container with the same name is removed, a running one is an error, and a foreign one keeps the name', async () => {
  const metadata = { name: 'named' };
  const first = await pod.verbs.create({ metadata });
  const second = await pod.verbs.create({ metadata });
  assert.notEqual(second, first);
  await assert.rejects(pod.verbs.status(first), hasCode('not_found'));
  await pod.verbs.start(second);
  await assert.rejects(pod.verbs.create({ metadata }), hasCode('already_exists'));
  const both = await Promise.all([1, 2].map(() => pod.verbs.create({ metadata: { name: 'twice' } })));
  const left = (await pod.verbs.list()).filter(({ metadata }) => metadata?.name === 'twice');
  assert.ok(left.length === 1 && both.includes(left[0]!.id!));

  const name = 'k8s_taken_pod_default_uid-pod_0';
  const foreign = await pod.engine.containers.create(name, { Image: busyboxImage, Labels: {}, HostConfig: {} });
  const suffixed = await pod.verbs.create({ metadata: { name: 'taken' } });
  assert.equal((await pod.verbs.status(suffixed)).metadata?.name, 'taken');
  assert.equal((await pod.engine.containers.inspect(foreign)).Name, `/${name}`);
});

test('limits of a running container are changed, and unsupported changes are refused', async () => {
  const id = await run('limited', { linux: { resources: { memoryLimitInBytes: 32n << 20n, cpuShares: 2n } } });
  await pod.verbs.update(id, { memoryLimitInBytes: 64n << 20n, cpuShares: 100n, cpuQuota: 20_000n, oomScoreAdj: 5n });
  const { linux } = (await pod.verbs.status(id)).resources!;
  assert.deepEqual([linux!.memoryLimitInBytes, linux!.cpuShares, linux!.cpuQuota], [64n << 20n, 100n, 20_000n]);
  await assert.rejects(pod.verbs.update(id, { memoryLimitInBytes: -1n }), hasCode('invalid_argument'));
  await pod.verbs.update(id, {});
  const unlimited = await run('unlimited', {});
  await pod.verbs.update(unlimited, { memoryLimitInBytes: -1n, cpuShares: 150n }); // as kubelets send it
  assert.equal((await pod.verbs.status(unlimited)).resources!.linux!.cpuShares, 150n);
});

test('a log is linked before its first line, and stays linked although Docker cannot reopen it', async () => {
  const link = join(pod.logDirectory, 'logged/0.log');
  const id = await pod.verbs.create({
    metadata: { name: 'logged' },
    command: ['sh', '-c', 'echo one; exec sleep 1000'],
    logPath: 'logged/0.log',
  });
  mkdirSync(join(pod.logDirectory, 'logged'), { recursive: true });
  writeFileSync(link, 'of an earlier container\n');
  const stages: string[] = [];
  const atStage = (stage: string) => void stages.push(`${stage} ${readlinkSync(link).endsWith(`${id}-json.log`)}`);
  await verbsOf(pod.engine, pod, { failpoint: atStage }).start(id);
  assert.deepEqual(stages, ['container-start/log-linked true', 'container-start/started true']);
  await waitFor(() => (readFileSync(link, 'utf8').includes('"one\\n"') ? true : undefined), bound());
  assert.equal((await pod.verbs.info(id)).engineLogPath, readlinkSync(link));

  renameSync(link, `${link}.20261122-230000`);
  await assert.rejects(pod.verbs.reopenLog(id), (error) => {
    assert.equal(errorCode(error), 'unimplemented');
    assert.match(String(error), /"log-opts": \{"max-size"/);
    return true;
  });
  assert.match(readFileSync(link, 'utf8'), /"one\\n"/);

  writeFileSync(join(pod.logDirectory, 'logged/other.log'), '');
  renameSync(join(pod.logDirectory, 'logged/other.log'), link);
  await pod.verbs.remove(id);
  assert.equal(readFileSync(link, 'utf8'), '', "a file that is not this container's link stays");
});

test('the pod’s network files are mounted in a container even if the Engine relabels them', async () => {
  const { engine, logDirectory } = pod;
  const sandboxId = await startSandbox(engine, 'labelled', { NetworkDisabled: true });
  // the test hosts do not have SELinux, and without it the Engine accepts the options but ignores them
  const info = async () => ({ ...(await engine.info()), SecurityOptions: ['name=selinux'] });
  const verbs = verbsOf(engine, { sandboxId, logDirectory }, { facts: { info, version: () => engine.version() } });
  const args = ['sh', '-c', 'cat /etc/hostname; grep -c ip6-localhost /etc/hosts; echo >> /etc/hosts || echo no'];
  const linux = { securityContext: { readonlyRootfs: true } };
  const id = await verbs.create({ metadata: { name: 'labelled' }, logPath: 'labelled.log', command: [], args, linux });
  await verbs.start(id);
  const { mounts } = await ended(id);
  const said = (await output(id)).split('\n').filter((line) => !line.startsWith('sh: '));
  assert.deepEqual([said, mounts], [[sandboxId.slice(0, 12), '1', 'no', ''], []]);
  const { Mounts } = await engine.containers.inspect(id);
  assert.equal(Mounts.filter(({ Destination }) => Destination.startsWith('/etc/')).length, 3);
});

test('a container is created only in a running sandbox, and sees only its own pod’s processes', async () => {
  const other = await startSandbox(pod.engine, 'another');
  const elsewhere = verbsOf(pod.engine, { sandboxId: other, logDirectory: '' });
  const target = await elsewhere.create({ metadata: { name: 'target' } });
  const options = (targetId: string) => ({
    linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.TARGET, targetId } } },
  });
  await assert.rejects(pod.verbs.create(options(target)), /is of another pod/);
  await elsewhere.create({ metadata: { name: 'elsewhere' }, ...options(target) });
  await pod.engine.containers.stop(other, 0);
  await assert.rejects(elsewhere.create({ metadata: { name: 'late' } }), hasCode('failed_precondition'));
  const nowhere = verbsOf(pod.engine, { sandboxId: 'f'.repeat(64), logDirectory: '' });
  await assert.rejects(nowhere.create({}), hasCode('not_found'));
  const absent = { image: { image: 'localhost/not/here:1' } };
  await assert.rejects(pod.verbs.create(absent), /[Nn]o such image: localhost\/not\/here:1/);
});
