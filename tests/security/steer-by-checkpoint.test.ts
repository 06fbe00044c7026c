/**
 * An attacker supplies a checkpoint, as an archive or an image, with chosen annotations, log path and spec (GO-2026-5064, CVE-2026-53489,
 * GO-2026-6791), or swaps files while a checkpoint is being written and read.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NamespaceMode, SecurityProfile_ProfileType } from '@podwright/cri';
import { runChecked } from '@podwright/host';
import type { OciSpec } from '@podwright/oci';
import { writeFakeCriu, writeFakeRunc } from '../conformance/fake-criu.fixture.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { LayoutDirectory } from '../images/layout-directory.ts';
import { addImage, type BlobSink, makeLayer } from '../images/made-image.ts';

const place = makeTestPlace();
const directory = join(place.directory, 'net.d', 'attack');
const devices = join(directory, 'cdi');
const archive = join(directory, 'checkpoint.tar');
const runtime = new RuntimeUnderTest(place);
const pathBefore = process.env.PATH;

/** A CDI spec on the host with a device that an annotation could request. */
const DEVICE = `
cdiVersion: "0.6.0"
kind: podwright.test/disk
devices:
- name: all
  containerEdits: {env: [DISK=given], mounts: [{hostPath: /etc, containerPath: /host-etc, options: [rbind, ro]}]}
`;
/** Annotations that would be acted on by CRI-O, containerd, crun or CDI. */
const ANNOTATIONS = {
  'cdi.k8s.io/disk': 'podwright.test/disk=all',
  'io.kubernetes.cri-o.annotations.checkpoint.name': 'victim',
  'org.criu.checkpoint.container.name': 'victim',
  'org.criu.checkpoint.engine.name': 'podwright',
  'io.kubernetes.container.logPath': '/etc/shadow',
  'io.kubernetes.cri.container-type': 'sandbox',
  'run.oci.hooks.stderr': '/tmp/hook',
  'run.oci.systemd.subgroup': '/',
};

before(async () => {
  mkdirSync(devices, { recursive: true });
  writeFileSync(join(devices, 'disk.yaml'), DEVICE);
  writeFakeCriu(directory);
  process.env.PATH = `${directory}:${pathBefore}`;
  await runtime.start({ ociRuntime: writeFakeRunc(directory), cdiDirectories: [devices] });
});
after(async () => {
  process.env.PATH = pathBefore;
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

async function runContainer(name: string, change: object = {}) {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = { ...containerOf(image, 'main', 'echo hello; exec sleep 1000'), ...change };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Writes a checkpoint as an image, with annotations on every object that supports them. */
function writeCheckpointImage(path: string, tag: string): string {
  const layout = new LayoutDirectory(path);
  const sink: BlobSink = {
    addBlob: (data) => layout.addBlob(data),
    addManifest: (name, value, mediaType) =>
      layout.addManifest(name, { ...value, annotations: ANNOTATIONS }, mediaType),
  };
  const spec = { process: { args: ['sh'], capabilities: {} }, linux: { seccomp: null }, annotations: ANNOTATIONS };
  const layer = makeLayer({
    'config.dump': JSON.stringify({ id: 'victim', rootfsImageName: runtime.image }),
    'spec.dump': JSON.stringify(spec),
    'status.dump': JSON.stringify({ annotations: ANNOTATIONS, log_path: '/etc/shadow' }),
    'checkpoint/inventory.img': 'x',
  });
  const { manifest } = addImage(sink, { tag, layers: [layer] });
  const reference = `localhost/attack/${tag}:1`;
  const annotations = { ...ANNOTATIONS, 'org.opencontainers.image.ref.name': reference };
  layout.writeIndex([{ ...manifest, annotations }]);
  return reference;
}

async function load(path: string): Promise<void> {
  for await (const _ of runtime.cri.transfers.load({ path }));
}

test('the path to a checkpoint archive is not accepted as an image', async () => {
  const { cri } = runtime;
  const victim = await runContainer('victim');
  await cri.runtime.checkpointContainer({ containerId: victim.containerId, location: archive });
  for (const image of [archive, `file://${archive}`]) {
    const config = { ...containerOf(image, 'restored', 'sleep 1000') };
    const call = cri.runtime.createContainer({ podSandboxId: victim.podSandboxId, config });
    await assert.rejects(call, (error: { code: string }) => ['not_found', 'invalid_argument'].includes(error.code));
    await assert.rejects(cri.image.pullImage({ image: { image } }), { code: 'invalid_argument' });
  }
  await assert.rejects(load(archive));
  await cri.runtime.removePodSandbox({ podSandboxId: victim.podSandboxId });
});

test("a checkpoint image is an ordinary image: the pod's own settings apply, and its annotations are ignored", async () => {
  const reference = writeCheckpointImage(join(directory, 'image'), 'checkpoint');
  await load(join(directory, 'image'));
  const { cri } = runtime;
  const config = podOf(place, 'restored');
  const annotations = { 'cdi.k8s.io/of-the-pod': 'podwright.test/disk=all' };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: { ...config, annotations } });
  const security = {
    namespaceOptions: { pid: NamespaceMode.CONTAINER },
    capabilities: { dropCapabilities: ['ALL'] },
    seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
    noNewPrivs: true,
  };
  const asked = {
    ...containerOf(reference, 'restored', ''),
    command: ['/bin/busybox', 'sleep', '1000'], // the host's busybox, because the image has none
    mounts: [{ hostPath: '/bin', containerPath: '/bin', readonly: true }],
    linux: { securityContext: security },
  };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: asked });
  await cri.runtime.startContainer({ containerId });
  const { status, info } = await cri.runtime.containerStatus({ containerId, verbose: true });
  assert.equal(status?.logPath, join(config.logDirectory, 'restored.log'));
  const spec = (JSON.parse(info.info!) as { runtimeSpec: OciSpec }).runtimeSpec;
  assert.deepEqual(spec.process.capabilities?.bounding, []);
  assert.deepEqual([spec.process.noNewPrivileges, spec.linux.seccomp?.defaultAction], [true, 'SCMP_ACT_ERRNO']);
  assert.ok(!spec.mounts.some(({ destination }) => destination === '/host-etc'));
  assert.ok(!spec.process.env.some((entry) => entry.startsWith('DISK=')));
  assert.equal(spec.hooks, undefined);
  const foreign = Object.keys(spec.annotations!).filter((key) => !key.startsWith('io.kubernetes.cri.'));
  assert.deepEqual(foreign, []);
  assert.equal(spec.annotations!['io.kubernetes.cri.container-type'], 'container');
  await cri.runtime.removePodSandbox({ podSandboxId });
  await cri.image.removeImage({ image: { image: reference } });
});

test('a checkpoint is not written through a link or into a directory of another user', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await runContainer('written');
  const checkpoint = (location: string) => cri.runtime.checkpointContainer({ containerId, location });
  const victim = join(directory, 'victim.txt');
  writeFileSync(victim, 'mine');
  const location = join(directory, 'second.tar');
  symlinkSync(victim, `${location}.partial`); // the temporary name in earlier versions
  await checkpoint(location);
  assert.equal(readFileSync(victim, 'utf8'), 'mine');
  assert.equal(statSync(location).mode & 0o777, 0o600);

  symlinkSync(victim, join(directory, 'link.tar'));
  mkdirSync(join(directory, 'open'));
  chmodSync(join(directory, 'open'), 0o777);
  for (const [where, code] of [
    [join(directory, 'link.tar'), 'invalid_argument'],
    [directory, 'invalid_argument'],
    ['second.tar', 'invalid_argument'],
    [`${directory}/cdi/../third.tar`, 'invalid_argument'],
    [join(directory, 'nowhere', 'third.tar'), 'not_found'],
    [join(directory, 'open', 'third.tar'), 'failed_precondition'],
  ] as const)
    await assert.rejects(checkpoint(where), { code }, where);
  assert.equal(readFileSync(victim, 'utf8'), 'mine');
  assert.ok(!existsSync(join(directory, 'third.tar')));
  assert.deepEqual(readdirSync(join(directory, 'open')), []);
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a link in place of the log does not copy a file of the host into a checkpoint', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await runContainer('logged');
  const log = join(place.logs, 'logged', 'main.log');
  renameSync(log, `${log}.kept`);
  symlinkSync('/etc/shadow', log);
  const location = join(directory, 'logged.tar');
  await cri.runtime.checkpointContainer({ containerId, location });
  const names = (await runChecked('tar', ['--list', '--file', location])).split('\n');
  assert.ok(names.includes('spec.dump'), names.join());
  assert.ok(!names.includes('container.log'), names.join());
  await cri.runtime.removePodSandbox({ podSandboxId });
});
