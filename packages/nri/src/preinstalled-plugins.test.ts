import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { AdaptationUnderTest, containerSource } from './adaptation.fixture.ts';
import { findInstalledPlugins, startInstalledPlugins } from './preinstalled-plugins.ts';

const directory = mkdtempSync(join(tmpdir(), 'nri-installed-'));
after(() => rmSync(directory, { recursive: true }));
const [pluginPath, configPath] = [join(directory, 'plugins'), join(directory, 'conf.d')];
for (const path of [pluginPath, configPath]) mkdirSync(path);

function install(name: string, text: string, { executable = true } = {}): void {
  writeFileSync(join(pluginPath, name), text);
  if (executable) chmodSync(join(pluginPath, name), 0o755);
}

const PLUGIN = `#!${process.execPath}
import('${new URL('./stub.ts', import.meta.url).href}').then(({ runPlugin }) => {
  let given = '';
  return runPlugin({
    handlers: {
      configure: ({ config }) => { given = config; },
      createContainer: () => ({ adjust: { annotations: { config: given, name: process.env.NRI_PLUGIN_NAME } } }),
    },
  });
});
`;

test('executable files with a two-digit index and a name are plugins, with a configuration file of either name', async () => {
  install('20-b', '');
  install('10-a', '');
  install('30-c', '', { executable: false });
  install('wrong', '');
  writeFileSync(join(configPath, 'a.conf'), 'a');
  writeFileSync(join(configPath, '20-b.conf'), 'twenty');
  writeFileSync(join(configPath, 'b.conf'), 'b');
  const found = await findInstalledPlugins({ pluginPath, configPath }, silentLogger);
  assert.deepEqual(
    found.map(({ name, config }) => [name.index, name.base, config]),
    [
      ['10', 'a', 'a'],
      ['20', 'b', 'twenty'],
    ],
  );
  const missing = join(directory, 'missing');
  assert.deepEqual(await findInstalledPlugins({ pluginPath: missing, configPath: missing }, silentLogger), []);
});

test('an installed plugin is started with its connection, and ends with it; one that fails is ignored', async () => {
  install('10-a', PLUGIN);
  install('20-b', '#!/bin/false');
  await using host = new AdaptationUnderTest();
  const exited = await startInstalledPlugins(host.adaptation, { pluginPath, configPath }, silentLogger);
  assert.deepEqual(host.adaptation.plugins, ['10-a']);
  const adjust = await host.adaptation.createContainer(containerSource('c'));
  assert.deepEqual(adjust?.annotations, { config: 'a', name: 'a' });
  await host.adaptation.stop();
  await exited();
});
