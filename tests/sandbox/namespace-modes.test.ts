import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { after, before, test } from 'node:test';
import { NamespaceMode } from '@podwright/cri';
import { containerOf, type Modes, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const { POD, CONTAINER, NODE, TARGET } = NamespaceMode;
const place = makeTestPlace();
place.options.handlers = {
  pinned: { task: 'oci', program: 'runc', sandbox: 'pinned' },
  pause: { task: 'oci', program: 'runc', sandbox: 'pause' },
};
place.options.ociRuntime = 'runc';
const runtime = new RuntimeUnderTest(place);
before(async () => void (await runtime.start()));
after(async () => assert.deepEqual(await runtime.end(), []));

const hostNamespace = (kind: string) => readlinkSync(`/proc/self/ns/${kind}`);

async function output(containerId: string, script: string): Promise<string> {
  const request = { containerId, cmd: ['sh', '-c', script], timeout: 60n };
  const { stdout, stderr, exitCode } = await runtime.cri.runtime.execSync(request);
  assert.equal(exitCode, 0, Buffer.from(stderr).toString());
  return Buffer.from(stdout).toString().trim();
}

const namespaceOf = (containerId: string, kind: string) => output(containerId, `readlink /proc/self/ns/${kind}`);

/** Runs a pod and calls `work` with a function that starts containers in it, each with its own namespace modes and `targetId`. */
async function withPod(
  { handler, modes = {}, ...more }: { handler: string; modes?: Modes; dnsConfig?: object },
  work: (start: (name: string, own?: Modes & { targetId?: string }) => Promise<string>) => Promise<void>,
): Promise<void> {
  const { cri, image } = runtime;
  const config = { ...podOf(place, 'modes', modes), ...more };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config, runtimeHandler: handler });
  const start = async (name: string, own: Modes & { targetId?: string } = {}) => {
    const container = containerOf(image, name, `exec sleep ${1000 + name.length}`, { ...modes, ...own });
    const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: container });
    await cri.runtime.startContainer({ containerId });
    return containerId;
  };
  try {
    await work(start);
  } finally {
    await cri.runtime.removePodSandbox({ podSandboxId });
  }
  assert.deepEqual(await runtime.remains(), []);
}

for (const handler of ['pinned', 'pause']) {
  test(`${handler}: containers have the PID namespace of the pod, their own, that of another container, or the host's`, () =>
    withPod({ handler, modes: { pid: POD } }, async (start) => {
      const [one, two] = [await start('one'), await start('two')];
      assert.equal(await namespaceOf(one, 'pid'), await namespaceOf(two, 'pid'));
      assert.notEqual(await namespaceOf(one, 'pid'), hostNamespace('pid'));
      const alone = await start('alone', { pid: CONTAINER });
      assert.notEqual(await namespaceOf(alone, 'pid'), await namespaceOf(one, 'pid'));
      assert.equal(await output(alone, 'cat /proc/1/comm'), 'sleep');
      const debug = await start('debug', { pid: TARGET, targetId: alone });
      assert.equal(await namespaceOf(debug, 'pid'), await namespaceOf(alone, 'pid'));
      assert.match(await output(debug, 'ps -o args'), /^sleep 1005$/m);
      const wide = await start('wide', { pid: NODE });
      assert.equal(await namespaceOf(wide, 'pid'), hostNamespace('pid'));
    }));

  test(`${handler}: containers share network, host name, IPC and shared memory of the pod, and its files`, () =>
    withPod(
      {
        handler,
        modes: { pid: CONTAINER },
        dnsConfig: { servers: ['10.9.8.7'], searches: ['a.test', 'b.test'], options: ['ndots:3'] },
      },
      async (start) => {
        const [one, two] = [await start('one'), await start('two')];
        for (const kind of ['net', 'ipc', 'uts']) {
          assert.equal(await namespaceOf(one, kind), await namespaceOf(two, kind));
          assert.notEqual(await namespaceOf(one, kind), hostNamespace(kind));
        }
        await output(one, 'echo shared > /dev/shm/word');
        assert.equal(await output(two, 'cat /dev/shm/word; hostname; cat /etc/hostname'), 'shared\nmodes\nmodes');
        assert.equal(
          await output(two, 'cat /etc/resolv.conf'),
          'search a.test b.test\nnameserver 10.9.8.7\noptions ndots:3',
        );
        const address = await output(one, 'hostname -i');
        assert.ok((await output(two, 'cat /etc/hosts')).includes(`${address}\tmodes`));
      },
    ));

  test(`${handler}: a pod has network and IPC of the host if requested`, () =>
    withPod({ handler, modes: { network: NODE, ipc: NODE, pid: NODE } }, async (start) => {
      const container = await start('main');
      for (const kind of ['net', 'ipc', 'uts', 'pid'])
        assert.equal(await namespaceOf(container, kind), hostNamespace(kind));
      assert.equal(await output(container, 'hostname'), hostname());
    }));

  for (const [name, modes] of [
    ['vm.swappiness', {}],
    ['net.ipv4.ip_forward', { network: NODE }],
    ['kernel.shmmax', { ipc: NODE }],
  ] as const) {
    test(`${handler}: sysctl ${name} is refused with its name for ${JSON.stringify(modes)}, and nothing is left`, async () => {
      const config = podOf(place, 'sysctls', modes);
      const linux = { ...config.linux, sysctls: { [name]: '1' } };
      await assert.rejects(
        runtime.cri.runtime.runPodSandbox({ config: { ...config, linux }, runtimeHandler: handler }),
        { code: 'invalid_argument', message: new RegExp(name.replaceAll('.', '\\.')) },
      );
      assert.deepEqual(await runtime.remains(), []);
    });
  }
}
