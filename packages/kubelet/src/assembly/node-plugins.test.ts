import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { PodDirectories } from '@podwright/volumes';
import { nodeSettings } from '../../../kubelet-configuration/src/options/node-settings.ts';
import { createNodePlugins, type NodePluginsInput } from './node-plugins.ts';

test('no driver registers, and no volumes are reported in use, until the leftover volumes have been read', async (context) => {
  const rootDir = mkdtempSync(join(tmpdir(), 'pwk-plugins-'));
  context.after(async () => {
    answer.resolve(false);
    await plugins.close();
    rmSync(rootDir, { recursive: true });
  });
  mkdirSync(join(rootDir, 'plugins/kubernetes.io/csi/d.example/unnoted'), { recursive: true });
  const looked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<boolean>();
  const isMountPoint = () => {
    looked.resolve();
    return answer.promise;
  };
  const plugins = createNodePlugins({
    options: { rootDir, nodeName: 'n', node: nodeSettings(), logger: silentLogger },
    mounter: { isMountPoint },
    directories: new PodDirectories(rootDir),
  } as unknown as NodePluginsInput);
  const { volumesInUse } = plugins;
  const registry = join(rootDir, 'plugins_registry');
  plugins.start(() => undefined);
  await looked.promise;
  assert.deepEqual([volumesInUse.isLoaded, existsSync(registry)], [false, false]);
  answer.reject(new Error('it cannot be looked at'));
  await waitFor(() => existsSync(registry) || undefined, { intervalMs: 5, signal: AbortSignal.timeout(30_000) });
  assert.equal(volumesInUse.isLoaded, true);
});
