import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cgroupExists, createCgroup, discoverCgroups, findProgram, removeCgroup } from '@podwright/host';
import { probeHost } from '../../packages/runtime/src/host/host-abilities.ts';
import { fastOci, type OciFastPaths, plainOci } from '../../packages/runtime/src/oci-runtime/oci-fast-paths.ts';
import { probeOciRuntime } from '../../packages/runtime/src/oci-runtime/oci-runtimes.ts';
import { ociFastPaths } from '../fixtures/fast-paths.ts';
import { SmallDisk } from '../fixtures/small-disk.ts';

describe('the features of this host', () => {
  let state: string;
  let cgroupParent: string;
  before(() => {
    state = mkdtempSync(join(tmpdir(), 'host-test-'));
    chmodSync(state, 0o711); // mapped users must be able to enter
    cgroupParent = `/host-test-${process.pid}`;
  });
  after(async () => {
    await removeCgroup(await discoverCgroups(), cgroupParent);
    rmSync(state, { recursive: true });
  });

  test('are determined by trial, and cached for the next start', async () => {
    const options = {
      state,
      root: state,
      cgroupParent,
      ociRuntime: '',
      conmon: 'conmon',
      fastPaths: ociFastPaths,
    };
    const abilities = await probeHost(options);
    assert.ok(abilities.ociRuntimes.some(({ works }) => works));
    for (const { name, works, features } of abilities.ociRuntimes.filter((found) => found.works)) {
      const { ociVersion, ...others } = features ?? {};
      assert.deepEqual({ works, ...others }, { works, recursiveReadonlyMounts: true, userNamespaces: true }, name);
      if (name === 'runc') assert.match(ociVersion ?? '', /^1\./); // crun 1.8 does not report it
    }
    assert.deepEqual(abilities.idMapping, { works: true, reason: '' });
    assert.match(abilities.conmon?.version ?? '', /^\d/);
    assert.ok(!readdirSync(state).some((name) => name.startsWith('trial-')));
    const written = () => statSync(join(state, 'host/oci-runc.json')).mtimeMs;
    const writtenAtMs = written();
    assert.deepEqual(await probeHost(options), abilities);
    assert.equal(written(), writtenAtMs);
  });

  test('are tried again for a start without fast paths, and then include no shortcut around an OCI runtime', async () => {
    const root = mkdtempSync(join(state, 'root-'));
    const options = { state, root, cgroupParent, ociRuntime: '', conmon: 'conmon' };
    const shortcuts = async (fastPaths: OciFastPaths) => {
      const working = (await probeHost({ ...options, fastPaths })).ociRuntimes.filter((found) => found.works);
      return working.map(({ program: { name, stateFormat, covered } }) => [name, stateFormat ?? covered]);
    };
    const names = (await probeHost({ ...options, fastPaths: fastOci })).ociRuntimes.map(({ name }) => name);
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(
        await shortcuts(plainOci),
        names.map((name) => [name, undefined]),
      );
      assert.deepEqual(
        await shortcuts(fastOci),
        names.map((name) => [name, name]),
      );
    }
  });

  test('are tried without leaving a cgroup behind, and only once for a program with two names', async () => {
    const cgroups = await discoverCgroups();
    const paths = [`${cgroupParent}/new`, `${cgroupParent}/new/pods`];
    await createCgroup(cgroups, `${cgroupParent}/mine`);
    const ociRuntime = findProgram('runc')!;
    for (const pods of [paths[1]!, `${cgroupParent}/mine`]) {
      const root = mkdtempSync(join(state, 'root-')); // without cached results
      const options = { state, root, cgroupParent: pods, ociRuntime, conmon: 'conmon', fastPaths: ociFastPaths };
      const { ociRuntimes } = await probeHost(options);
      assert.deepEqual(ociRuntimes.map(({ path }) => path).sort(), [findProgram('crun'), ociRuntime].sort());
      assert.ok(ociRuntimes.some(({ works }) => works));
    }
    for (const path of paths) assert.ok(!(await cgroupExists(cgroups, path)), path);
    assert.ok(await cgroupExists(cgroups, `${cgroupParent}/mine`));
  });

  test('mark OCI runtimes named only by handlers', async () => {
    const youki = join(state, 'youki');
    symlinkSync(findProgram('runc')!, youki);
    const options = { state, root: state, cgroupParent, ociRuntime: '', conmon: 'conmon', fastPaths: ociFastPaths };
    const { ociRuntimes } = await probeHost({ ...options, handlerPrograms: [youki, 'runc'] });
    assert.deepEqual(
      ociRuntimes.map(({ name, works, onlyForHandlers }) => [name, works, onlyForHandlers]),
      [
        ['crun', true, false],
        ['runc', true, false],
        ['youki', true, true],
      ],
    );
  });

  test('exclude a missing OCI runtime, and include the reason if one does not work', async () => {
    const cgroups = await discoverCgroups();
    const options = {
      directory: state,
      cacheDirectory: state,
      cgroupParent,
      cgroups,
      bootId: 'x',
      fastPaths: ociFastPaths,
    };
    assert.equal(await probeOciRuntime('no-such-runtime', options), undefined);
    const broken = join(state, 'broken');
    writeFileSync(broken, '#!/bin/sh\necho "I do not like this host" >&2\nexit 1\n', { mode: 0o755 });
    const finding = await probeOciRuntime(broken, options);
    assert.ok(finding?.works === false && /I do not like this host/.test(finding.reason), JSON.stringify(finding));
  });

  test('are not denied for lack of space: such a trial is not cached, and an earlier result is used', async () => {
    const disk = new SmallDisk(join(state, 'disk'), 'ext4');
    disk.fill();
    try {
      const common = { cgroupParent, ociRuntime: '', conmon: 'conmon', fastPaths: ociFastPaths };
      const withoutCache = await probeHost({ ...common, state, root: disk.path });
      assert.ok(withoutCache.ociRuntimes.some(({ works }) => works));
      assert.deepEqual(withoutCache.idMapping, { works: true, reason: '' });
      const cacheDirectory = mkdtempSync(join(state, 'cache-'));
      const probe = (directory: string, bootId: string) =>
        probeOciRuntime('crun', { ...common, cacheDirectory, directory, bootId, cgroups: withoutCache.cgroups });
      const unknown = await probe(disk.path, 'first');
      assert.ok(unknown?.works === false && /no space left/.test(unknown.reason), JSON.stringify(unknown));
      assert.deepEqual(readdirSync(cacheDirectory), []);
      const found = await probe(state, 'first');
      assert.equal(found?.works, true);
      assert.deepEqual(await probe(disk.path, 'second'), found);
    } finally {
      disk.remove();
    }
  });
});
