import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { type DirectoryClaim, isOverCapacity, type PodVolumeUse } from './claim-capacity.ts';
import { ClaimLimits } from './claim-limits.ts';
import { DiskDetail } from './disk-detail.ts';

const MIB = 1 << 20;
const signal = new AbortController().signal;

type PodOptions = { claim?: string; readOnly?: boolean; mountsReadOnly?: boolean; priority?: number };

const podOf = (name: string, options: PodOptions = {}): Pod =>
  ({
    metadata: {
      ...{ namespace: 'shop', name, uid: `u-${name}` },
      annotations: { 'kubernetes.io/config.source': 'api' },
    },
    spec: {
      priority: options.priority,
      volumes: [
        { name: 'v', persistentVolumeClaim: { claimName: options.claim ?? 'data', readOnly: options.readOnly } },
      ],
      containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: options.mountsReadOnly }] }],
    },
  }) as unknown as Pod;

const statsOf = (pod: Pod, usedBytes: number): PodVolumeUse => ({
  podRef: pod.metadata,
  volume: [{ name: 'v', usedBytes }],
});

/** Creates limits for claims in the namespace `shop`, each containing a file of the given size in MiB. */
function limitsOf(
  t: TestContext,
  uses: Record<string, number>,
  { capacityMiB = 10, isEnforced = true, maxUnknownMs = 60_000 } = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-claims-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const claims = new Map<string, DirectoryClaim>();
  const use = (name: string, sizeMiB: number, capacityBytes = BigInt(capacityMiB * MIB)) => {
    const path = mkdtempSync(join(directory, 'pvc-'));
    writeFileSync(join(path, 'file'), Buffer.alloc(sizeMiB * MIB, 1));
    claims.set(name, { namespace: 'shop', name, path, capacityBytes });
  };
  for (const [name, sizeMiB] of Object.entries(uses)) use(name, sizeMiB);
  const list = async () => [...claims.values()];
  const limits = new ClaimLimits({ list, isEnforced, maxUnknownMs, logger: silentLogger });
  return { limits, claims, use };
}

test('a claim may exceed its capacity by 5 % or 16 MiB, whichever is more', () => {
  const claim = (capacityMiB: number) => ({
    namespace: '',
    name: '',
    path: '',
    capacityBytes: BigInt(capacityMiB * MIB),
  });
  const check = (capacityMiB: number, usedMiB: number, expected: boolean) =>
    assert.equal(isOverCapacity(claim(capacityMiB), usedMiB * MIB), expected, `${usedMiB} of ${capacityMiB}`);
  check(10, 26, false);
  check(10, 27, true);
  check(1000, 1050, false);
  check(1000, 1051, true);
  check(0, 17, true);
  assert.equal(isOverCapacity({ namespace: '', name: '', path: '' }, 1e15), false);
});

test('a pod that can write to a claim above its capacity waits until the claim is expanded or files are removed', async (t) => {
  const { limits, claims, use } = limitsOf(t, { data: 40, other: 1 });
  const pod = podOf('web');
  const text =
    'Usage of the claim "data" (volume "v") is 40Mi, more than its capacity 10Mi. Expand or delete the claim, or remove files';
  assert.equal(await limits.refusalOf(pod, signal), text);
  assert.equal(await limits.refusalOf(podOf('other', { claim: 'other' }), signal), undefined);
  for (const options of [{ readOnly: true }, { mountsReadOnly: true }, { priority: 2_000_000_000 }])
    assert.equal(await limits.refusalOf(podOf('reader', options), signal), undefined, JSON.stringify(options));
  const data = claims.get('data')!;
  claims.set('data', { ...data, capacityBytes: BigInt(50 * MIB) });
  assert.equal(await limits.refusalOf(pod, signal), undefined);
  use('data', 2);
  assert.equal(await limits.refusalOf(pod, signal), undefined);
});

test('pods that wait for the same claim share a measurement', async (t) => {
  const { limits, claims } = limitsOf(t, { data: 40 });
  const first = await limits.refusalOf(podOf('one'), signal);
  assert.ok(first);
  rmSync(join(claims.get('data')!.path, 'file'));
  assert.equal(await limits.refusalOf(podOf('two'), signal), first);
  await assert.rejects(limits.refusalOf(podOf('three'), AbortSignal.abort(new Error('deleted'))), /deleted/);
});

test('pods that can write to a claim above its capacity are evicted, unless they have just removed files', async (t) => {
  const { limits, use } = limitsOf(t, { data: 40, other: 1 });
  const pods = [podOf('web'), podOf('reader', { readOnly: true }), podOf('other', { claim: 'other' })];
  const excesses = () =>
    limits.excesses(pods, async (some) => some.map((pod) => statsOf(pod, pod === pods[2] ? MIB : 30 * MIB)), signal);
  assert.deepEqual(
    (await excesses()).map(({ pod, excess }) => [pod.metadata.name, excess.signal, excess.message]),
    [['web', 'claim.capacity', 'Usage of the claim "data" (volume "v") is 40Mi, more than its capacity 10Mi. ']],
  );
  use('data', 2);
  assert.deepEqual(await excesses(), []);
});

test('a pod is evicted for its second claim even if the statistics of the first are stale', async (t) => {
  const { limits } = limitsOf(t, { data: 1, second: 40 });
  const pod = podOf('web');
  pod.spec.volumes!.push({ name: 'w', persistentVolumeClaim: { claimName: 'second' } });
  pod.spec.containers[0]!.volumeMounts!.push({ name: 'w', mountPath: '/w' });
  const volume = ['v', 'w'].map((name) => ({ name, usedBytes: 40 * MIB }));
  const excesses = await limits.excesses([pod], async () => [{ podRef: pod.metadata, volume }], signal);
  assert.deepEqual(
    excesses.map(({ excess }) => excess.message),
    ['Usage of the claim "second" (volume "w") is 40Mi, more than its capacity 10Mi. '],
  );
});

test('a pod is evicted even if the statistics of its claim are missing or stale', async (t) => {
  const old = (usedBytes: number, ageMs: number) => ({ name: 'v', usedBytes, time: new Date(Date.now() - ageMs) });
  for (const volume of [undefined, [{ name: 'v' }], [old(MIB, 600_000)]]) {
    const { limits } = limitsOf(t, { data: 40 }, { maxUnknownMs: 0 });
    const pod = podOf('web');
    const excesses = () => limits.excesses([pod], async () => [{ podRef: pod.metadata, volume }], signal);
    assert.deepEqual(await excesses(), []);
    const [found] = await waitFor(
      async () => {
        const all = await excesses();
        return all.length === 0 ? undefined : all;
      },
      { intervalMs: 10, signal: AbortSignal.timeout(10_000) },
    );
    assert.equal(
      found!.excess.message,
      'Usage of the claim "data" (volume "v") is 40Mi, more than its capacity 10Mi. ',
    );
  }
  const { limits } = limitsOf(t, { data: 40 });
  const pod = podOf('web');
  for (const volume of [undefined, [old(MIB, 60_000)]])
    for (const _ of [1, 2])
      assert.deepEqual(await limits.excesses([pod], async () => [{ podRef: pod.metadata, volume }], signal), []);
});

test('no pod waits or is evicted if limits are not enforced, or for claims that are not node directories', async (t) => {
  const { limits } = limitsOf(t, { data: 40 }, { isEnforced: false });
  const pod = podOf('web');
  assert.equal(await limits.refusalOf(pod, signal), undefined);
  assert.deepEqual(await limits.excesses([pod], async () => [statsOf(pod, 40 * MIB)], signal), []);
  const { limits: others } = limitsOf(t, {});
  assert.equal(await others.refusalOf(pod, signal), undefined);
});

test('the DiskPressure condition names the largest claims', async (t) => {
  const { limits } = limitsOf(t, { a: 1, b: 3, c: 2, d: 4 });
  let isShort = false;
  const { promise, resolve } = Promise.withResolvers<string>();
  const pressure = { has: () => isShort, explain: (_: string, detail: string) => resolve(detail) };
  const detail = new DiskDetail({ pressure, limits, logger: silentLogger });
  detail.refresh();
  isShort = true;
  detail.refresh();
  assert.equal(
    await promise,
    'the largest claims are shop/d (4Mi of 10Mi), shop/b (3Mi of 10Mi), shop/c (2Mi of 10Mi)',
  );
});
