import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { loadNetworks } from './config-directory.ts';

/**
 * Loads a configuration directory that contains these files. Returns the names of its networks in order, and the reasons for rejecting
 * files.
 */
async function load(files: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-cni-conf-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
    const { networks, rejected } = await loadNetworks(directory);
    const reasons = Object.fromEntries(rejected.map(({ path, reason }) => [basename(path), reason]));
    const types = networks.map(({ list }) => list.plugins.map(({ type }) => type));
    return { names: networks.map(({ list }) => list.name), types, reasons };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const single = (name: string) => JSON.stringify({ name, type: 'bridge' });

test('files with the three extensions are read in lexical order', async () => {
  const { names } = await load({
    'b.conf': single('b'),
    '10-z.json': single('z'),
    'a.conflist': '{"name":"a","plugins":[{"type":"bridge"}]}',
    'c.yaml': single('c'),
    'B.conf': single('upper'),
  });
  assert.deepEqual(names, ['z', 'upper', 'a', 'b']);
});

test('an invalid file is rejected with its reason, and the next one is read', async () => {
  const { names, reasons } = await load({
    '00-broken.conf': '{',
    '01-empty.conflist': '{"name":"x","plugins":[]}',
    '02-none.conflist': '{"name":"x"}',
    '03-big.conf': ' '.repeat((1 << 20) + 1),
    '04-good.conf': single('good'),
  });
  assert.deepEqual(names, ['good']);
  assert.match(reasons['00-broken.conf'] ?? '', /not JSON/);
  assert.match(reasons['01-empty.conflist'] ?? '', /'plugins' is empty/);
  assert.match(reasons['02-none.conflist'] ?? '', /the list has no plugins/);
  assert.match(reasons['03-big.conf'] ?? '', /more than 1048576/);
});

test('a nonexistent directory has no networks', async () => {
  assert.deepEqual(await loadNetworks('/nonexistent/net.d'), { networks: [], rejected: [] });
});

test('plugins are appended from the directory with the network’s name, unless the list sets loadOnlyInlinedPlugins', async () => {
  const list = { name: 'net', plugins: [{ type: 'bridge' }] };
  const { types } = await load({
    '1.conflist': JSON.stringify(list),
    '2.conflist': JSON.stringify({ ...list, loadOnlyInlinedPlugins: true }),
    'net/20-b.conf': '{"type":"tuning"}',
    'net/10-a.conf': '{"type":"firewall"}',
    'net/ignored.json': '{"type":"sbr"}',
  });
  assert.deepEqual(types, [['bridge', 'firewall', 'tuning'], ['bridge']]);
});
