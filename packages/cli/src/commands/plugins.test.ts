import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandContext, NodeConfig } from '../settings/node-config.ts';
import { plugins } from './plugins.ts';

test('plugins fails on a node using a Docker Engine, and points to doctor', async () => {
  const config = { criSocket: '/nowhere/cri.sock' } as NodeConfig;
  const settings = async () => ({ ...config, container_runtime: 'docker' }) as NodeConfig;
  const context = { config, settings } as unknown as CommandContext;
  const message = /^show plugins: .* on a Docker Engine, .*'podwright doctor' checks the Engine$/;
  await assert.rejects(plugins(context, { output: 'text' }), { code: 'failed_precondition', message });
});
