import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { joinedFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { parseConfig } from '../settings/parse-config.ts';
import { runtimeOptions } from './runtime-options.ts';

test('a standalone node keeps its network; a cluster node and a standalone runtime use the CNI configuration', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-options-'));
  context.after(() => rmSync(root, { recursive: true }));
  const modeOf = (text: string, how?: { isStandalone: boolean }) =>
    runtimeOptions(parseConfig(text, 'c.toml', { root }) as NodeConfig, how).network.mode;
  assert.equal(modeOf(''), 'keep');
  assert.equal(modeOf('', { isStandalone: false }), 'follow'); // podwright runtime
  assert.equal(modeOf('[cluster]\nkubeconfig = "/etc/kubeconfig"'), 'follow');
  const { kubeletConfiguration } = joinedFiles(root);
  mkdirSync(dirname(kubeletConfiguration), { recursive: true });
  writeFileSync(kubeletConfiguration, '');
  assert.equal(modeOf(''), 'follow'); // after podwright join
  for (const mode of ['bridge', 'cni'] as const)
    assert.equal(modeOf(`[network]\nmode = "${mode}"`, { isStandalone: false }), mode);
});

test('the runtime uses fast paths unless configured otherwise', () => {
  const fastPaths = (text: string) => runtimeOptions(parseConfig(text, 'c.toml') as NodeConfig).fastPaths;
  assert.deepEqual([fastPaths(''), fastPaths('fast_paths = false')], [true, false]);
});
