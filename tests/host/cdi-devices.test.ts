import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const place = makeTestPlace();
const directory = join(place.logs, 'cdi'); // one of the directories that may be left over
mkdirSync(directory, { recursive: true });
const runtime = new RuntimeUnderTest(place);
before(async () => void (await runtime.start({ cdiDirectories: [directory] })));
after(async () => assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host'));

const spec = `
cdiVersion: "0.6.0"
kind: podwright.test/null
containerEdits:
  env: [OF_ALL=1]
devices:
- name: like
  containerEdits:
    env: [OF_ONE=2]
    deviceNodes:
    - {path: /dev/like-null, hostPath: /dev/null, permissions: rw}
    mounts:
    - {hostPath: ${directory}, containerPath: /opt/specs, options: [rbind, ro]}
    hooks:
    - {hookName: createRuntime, path: /bin/sh, args: [sh, -c, "cat > /dev/null; echo ran > ${directory}/hook"]}
`;

async function create(name: string, change: object) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = { ...containerOf(image, 'main', 'exec sleep 1000'), ...change };
  return { podSandboxId, ...(await cri.runtime.createContainer({ podSandboxId, config })) };
}

test("a container gets the edits of its device's CDI specification", async () => {
  writeFileSync(join(directory, 'null.yaml'), spec);
  const { cri } = runtime;
  for (const [name, change] of Object.entries({
    field: { CDIDevices: [{ name: 'podwright.test/null=like' }] },
    annotation: { annotations: { 'cdi.k8s.io/plugin': 'podwright.test/null=like' } },
  })) {
    const { podSandboxId, containerId } = await create(name, change);
    await cri.runtime.startContainer({ containerId });
    const script =
      'echo $OF_ALL$OF_ONE; stat -c "%F %t:%T" /dev/like-null; echo x > /dev/like-null; cat /opt/specs/hook';
    const { stdout, stderr } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
    assert.equal(
      Buffer.from(stdout).toString(),
      '12\ncharacter special file 1:3\nran\n',
      Buffer.from(stderr).toString(),
    );
    await cri.runtime.removePodSandbox({ podSandboxId });
  }
});

test('an unknown device is refused with its name, and leaves no container behind', async () => {
  const change = { CDIDevices: [{ name: 'podwright.test/null=unknown' }] };
  await assert.rejects(create('unknown', change), {
    code: 'failed_precondition',
    message: /CDI device podwright\.test\/null=unknown is not in any specification/,
  });
  const { cri } = runtime;
  assert.deepEqual((await cri.runtime.listContainers({})).containers, []);
  for (const { id } of (await cri.runtime.listPodSandbox({})).items)
    await cri.runtime.removePodSandbox({ podSandboxId: id });
  assert.deepEqual(await runtime.remains(), []);
});
