import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry, silentLogger } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import { runChecked } from '@podwright/host';
import { needsVerification } from '@podwright/kubelet-configuration';
import { allowlistProblem } from '../../../kubelet-configuration/src/verification-policy.ts';
import { ImageAccess } from './image-access.ts';
import { accessTo, type PullSecret, withPull } from './pull-credentials.ts';
import { PullRecords } from './pull-records.ts';

function scratch(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-records-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

const secret = (uid: string, credentialHash: string): PullSecret => ({
  uid,
  namespace: 'd',
  name: 's',
  credentialHash,
});
const ID = `sha256:${'a'.repeat(64)}`;

test('the policy decides which images need verification', () => {
  const check = (policy: Parameters<typeof needsVerification>[0], image: string, preloaded: boolean, ours: boolean) => {
    assert.equal(needsVerification(policy, image, false), preloaded, `${policy.kind} ${image}, preloaded`);
    assert.equal(needsVerification(policy, image, true), ours, `${policy.kind} ${image}, pulled`);
  };
  check({ kind: 'NeverVerify' }, 'a', false, false);
  check({ kind: 'NeverVerifyPreloadedImages' }, 'a', false, true);
  check({ kind: 'AlwaysVerify' }, 'a', true, true);
  const policy = { kind: 'NeverVerifyAllowlistedImages', allowlist: ['r.test/a', 'r.test/team/*'] } as const;
  check(policy, 'r.test/a:1', false, false);
  check(policy, 'r.test/a/b', true, true);
  check(policy, `r.test/team/x@${ID}`, false, false);
  check(policy, 'r.test/teamx', true, true);
});

test('allowlist entries are names without tags, with an optional trailing star', () => {
  for (const good of ['r.test/a', 'r.test/*', 'r.test:5000/a/*']) assert.equal(allowlistProblem(good), undefined, good);
  for (const bad of ['', '/*', ' a', 'r.test/a:1', 'r.*/a', 'r.test/a*', 'r.test/A', `a@${ID}`])
    assert.ok(allowlistProblem(bad), bad);
});

test('a Secret grants access to an image if the Secret or its hash is recorded', () => {
  const record = withPull(
    undefined,
    { image: 'busybox:1', imageRef: ID, credentials: { kubernetesSecrets: [secret('u', 'h')] } },
    new Date(),
  );
  const check = (image: string, own: PullSecret[], expected: object) =>
    assert.deepEqual(
      accessTo(record, image, () => own),
      expected,
    );
  check('busybox', [secret('u', 'h')], { allowed: true });
  check('docker.io/library/busybox:2', [secret('u', 'h')], { allowed: true });
  check('busybox', [secret('v', 'h')], { allowed: true, adds: secret('v', 'h') });
  check('busybox', [secret('u', 'new')], { allowed: true, adds: secret('u', 'new') });
  check('busybox', [secret('v', 'other')], { allowed: false });
  check('busybox', [], { allowed: false });
  check('other', [secret('u', 'h')], { allowed: false });
  const noUid = withPull(
    undefined,
    { image: 'a', imageRef: ID, credentials: { kubernetesSecrets: [secret('', 'h')] } },
    new Date(),
  );
  assert.deepEqual(
    accessTo(noUid, 'a', () => [secret('', 'other')]),
    { allowed: false },
  );
});

test('pulls of one image by two names are recorded under the first name', () => {
  const first = { image: 'busybox', imageRef: ID, credentials: { kubernetesSecrets: [secret('u', 'h')] } };
  const record = withPull(undefined, first, new Date());
  const both = withPull(
    record,
    { image: 'docker.io/library/busybox:1', imageRef: ID, credentials: { nodePodsAccessible: true } },
    new Date(),
  );
  assert.deepEqual(both.credentialMapping, { busybox: { nodePodsAccessible: true } });
  assert.deepEqual(
    accessTo(both, 'library/busybox', () => []),
    { allowed: true },
  );
});

test('of two names for one image, the pod’s own spelling counts', () => {
  const credentialMapping = {
    'docker.io/library/busybox': { nodePodsAccessible: true },
    busybox: { kubernetesSecrets: [secret('u', 'h')] },
  };
  const record = { lastUpdatedTime: '', imageRef: ID, credentialMapping };
  const access = (image: string) => accessTo(record, image, () => []).allowed;
  assert.deepEqual(['busybox:1', 'docker.io/library/busybox', 'library/busybox'].map(access), [false, true, true]);
});

test('records are stored in upstream’s format, and read after a restart', async (context) => {
  const directory = scratch(context);
  const records = await PullRecords.open(directory, silentLogger);
  await records.begin('busybox:1');
  assert.deepEqual(records.counts, { pulling: 1, pulled: 0 });
  await records.add({ image: 'busybox:1', imageRef: ID, credentials: { kubernetesSecrets: [secret('u', 'h')] } });
  await records.end('busybox:1');
  assert.deepEqual(readdirSync(join(directory, 'pulling')), []);
  const [file] = readdirSync(join(directory, 'pulled'));
  const { lastUpdatedTime, ...rest } = JSON.parse(readFileSync(join(directory, 'pulled', file!), 'utf8'));
  assert.match(lastUpdatedTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    imageRef: ID,
    credentialMapping: { busybox: { kubernetesSecrets: [secret('u', 'h')] } },
  });
  const later = await PullRecords.open(directory, silentLogger);
  assert.deepEqual(later.find(ID)?.credentialMapping, rest.credentialMapping);
  await later.prune(() => false, Date.now() - 60_000);
  assert.ok(later.find(ID));
  await later.prune(() => false, Date.now() + 60_000);
  assert.equal(later.find(ID), undefined);
  assert.deepEqual(readdirSync(join(directory, 'pulled')), []);
});

test('an image with an invalid record needs credentials', { timeout: 10_000 }, async (context) => {
  const directory = scratch(context);
  const records = await PullRecords.open(directory, silentLogger);
  await records.add({ image: 'busybox', imageRef: ID, credentials: { nodePodsAccessible: true } });
  const [file] = readdirSync(join(directory, 'pulled'));
  for (const hostile of [
    '{',
    '[]',
    'null',
    '{"imageRef": 1}',
    `{"imageRef": "${ID}", "lastUpdatedTime": "", "credentialMapping": {"a": {"kubernetesSecrets": {}}}}`,
  ]) {
    writeFileSync(join(directory, 'pulled', file!), hostile);
    const later = await PullRecords.open(directory, silentLogger);
    assert.deepEqual(later.find(ID), { lastUpdatedTime: '', imageRef: ID }, hostile);
  }
  rmSync(join(directory, 'pulled', file!));
  await runChecked('mkfifo', [join(directory, 'pulled', file!)]);
  const later = await PullRecords.open(directory, silentLogger);
  assert.deepEqual(later.find(ID), { lastUpdatedTime: '', imageRef: ID }, 'a FIFO');
});

test('an image from an interrupted pull is not mistaken for a preloaded image', async (context) => {
  const directory = scratch(context);
  const runtime = new FakeRuntime({ images: ['docker.io/library/killed:1', 'preloaded:1'] });
  const { images } = await runtime.client.image.listImages({});
  const id = (name: string) => images.find(({ repoTags }) => repoTags.includes(name))!.id;
  await (await PullRecords.open(directory, silentLogger)).begin('killed:1');
  const metrics = new Registry();
  const policy = { kind: 'NeverVerifyPreloadedImages' } as const;
  const access = new ImageAccess({ cri: runtime.client, directory, policy, logger: silentLogger, metrics });
  assert.equal(await access.mustPull('killed:1', id('docker.io/library/killed:1'), async () => []), true);
  assert.equal(await access.mustPull('preloaded:1', id('preloaded:1'), async () => []), false);
  assert.deepEqual(readdirSync(join(directory, 'pulling')), []);
  const text = await metrics.metrics();
  assert.match(text, /kubelet_imagemanager_image_mustpull_checks_total\{result="mustAuthenticate"\} 1/);
  assert.match(text, /kubelet_imagemanager_image_mustpull_checks_total\{result="credentialPolicyAllowed"\} 1/);
  assert.match(text, /kubelet_imagemanager_ondisk_pulledrecords 1/);
});
