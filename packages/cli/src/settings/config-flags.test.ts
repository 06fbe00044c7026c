import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { configArguments } from './config-flags.ts';

test('another process is told of the same paths wherever it runs', () => {
  const here = (path: string) => join(process.cwd(), path);
  const flags = { config: 'my.toml', root: './data', state: '/run/mine', bridge: 'mine0', subnet: '10.84.0.0/16' };
  assert.deepEqual(configArguments(flags), [
    ...['--config', here('my.toml'), '--root', here('data'), '--state', '/run/mine'],
    ...['--bridge', 'mine0', '--subnet', '10.84.0.0/16'],
  ]);
});
