import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { handleService, type ListeningServer, serveServices } from '@podwright/grpc';
import { Registration } from '../plugin-registration-api.ts';
import type { Plugin, PluginHandler } from './plugin-handler.ts';
import { PluginRegistry } from './plugin-registry.ts';

type Info = { type?: string; name?: string; endpoint?: string; supportedVersions?: string[] };

/** A plugin handler that accepts all plugins except `refused`, and records the calls it receives. */
class NotingHandler implements PluginHandler {
  readonly calls: string[] = [];
  readonly plugins: Plugin[] = [];
  failures = 0;

  validate({ name }: Plugin): void {
    if (name === 'refused') throw new PodwrightError('invalid_argument', 'it is refused');
  }

  async register(plugin: Plugin): Promise<void> {
    if (this.failures-- > 0) throw new PodwrightError('unavailable', 'not now');
    this.calls.push(`+${plugin.name}`);
    this.plugins.push(plugin);
  }

  async deregister({ name }: Plugin): Promise<void> {
    this.calls.push(`-${name}`);
  }
}

class TestNode {
  readonly directory = mkdtempSync(join(tmpdir(), 'pwk-plugins-'));
  readonly handler = new NotingHandler();
  /** Registration statuses received by the plugins, each with the plugin's name. */
  readonly statuses: string[] = [];
  registry = this.#newRegistry();
  readonly #servers: ListeningServer[] = [];

  constructor(context: TestContext) {
    context.after(async () => {
      await this.registry.close();
      for (const server of this.#servers) await server.close();
      rmSync(this.directory, { recursive: true });
    });
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  async serve(socket: string, info: Info | 'hangs' = {}): Promise<ListeningServer> {
    const name = socket.split('/').at(-1)!.replace('.sock', '');
    const service = handleService(Registration, {
      getInfo: async () =>
        info === 'hangs' ? await new Promise<never>(() => undefined) : { type: 'CSIPlugin', name, ...info },
      notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
        this.statuses.push(`${name}: ${pluginRegistered ? 'registered' : error}`);
        return {};
      },
    });
    const server = await serveServices([service], { socket: this.path(socket), logger: silentLogger });
    this.#servers.push(server);
    return server;
  }

  async restart(): Promise<void> {
    await this.registry.close();
    this.registry = this.#newRegistry();
    await this.registry.start();
  }

  async until(holds: () => boolean): Promise<void> {
    using signal = withTimeout(undefined, 30_000, 'wait for plugins');
    await waitFor(() => holds() || undefined, { intervalMs: 2, signal }).catch((error: unknown) => {
      throw new Error(JSON.stringify([this.handler.calls, this.statuses]), { cause: error });
    });
  }

  handled(...what: string[]): Promise<void> {
    return this.until(() => this.handler.calls.join() === what.join());
  }

  #newRegistry(): PluginRegistry {
    return new PluginRegistry({
      directory: this.directory,
      handlers: { CSIPlugin: this.handler },
      logger: silentLogger,
      periodMs: 3_600_000, // only inotify
    });
  }
}

test('sockets that exist, appear, disappear and reappear are registered and deregistered', async (context) => {
  const node = new TestNode(context);
  await node.serve('first.sock', { endpoint: '/elsewhere.sock', supportedVersions: ['1.0.0'] });
  await node.registry.start();
  assert.deepEqual(node.handler.plugins, [{ name: 'first', endpoint: '/elsewhere.sock', versions: ['1.0.0'] }]);
  const second = await node.serve('second.sock');
  await node.handled('+first', '+second');
  assert.equal(node.handler.plugins[1]!.endpoint, node.path('second.sock'));
  await second.close();
  rmSync(node.path('second.sock'), { force: true });
  await node.handled('+first', '+second', '-second');
  await node.serve('second.sock');
  await node.handled('+first', '+second', '-second', '+second');
  await node.until(() => node.statuses.length === 3);
});

test('a socket that replaces another one is a new plugin', async (context) => {
  const node = new TestNode(context);
  await node.serve('a.sock');
  await node.registry.start();
  mkdirSync(node.path('.new'));
  await node.serve('.new/b.sock');
  renameSync(node.path('.new/b.sock'), node.path('a.sock'));
  await node.handled('+a', '-a', '+b');
});

test('sockets are found in old and new subdirectories, and through links', async (context) => {
  const node = new TestNode(context);
  mkdirSync(node.path('old/deeper'), { recursive: true });
  await node.serve('old/deeper/a.sock');
  await node.registry.start();
  mkdirSync(node.path('new/deeper'), { recursive: true });
  await node.serve('new/deeper/b.sock');
  await node.handled('+a', '+b');
  mkdirSync(node.path('.hidden'));
  await node.serve('.hidden/c.sock');
  symlinkSync(node.path('.hidden/c.sock'), node.path('link.sock'));
  await node.handled('+a', '+b', '+c');
});

test('files, hidden names, broken links and loops are ignored', async (context) => {
  const node = new TestNode(context);
  writeFileSync(node.path('file.sock'), '');
  symlinkSync('nowhere', node.path('broken.sock'));
  symlinkSync('.', node.path('circle'));
  symlinkSync('loop', node.path('loop'));
  await node.serve('.hidden.sock');
  await node.serve('seen.sock');
  await node.registry.start();
  assert.deepEqual(node.handler.calls, ['+seen']);
});

test('a hanging plugin delays no other plugin, and delays the start only until the timeout', async (context) => {
  const node = new TestNode(context);
  await node.serve('hangs.sock', 'hangs');
  await node.serve('works.sock');
  await node.registry.start();
  assert.deepEqual(node.handler.calls, ['+works']);
});

test('refused plugins are notified of the reason', async (context) => {
  const node = new TestNode(context);
  const check = async (socket: string, info: Info, error: string) => {
    await node.serve(`${socket}.sock`, info);
    await node.until(() => node.statuses.includes(`${socket}: RegisterPlugin error -- ${error}`));
  };
  await node.registry.start();
  await check(
    'a',
    { type: 'toString' },
    `no handler registered for plugin type: toString at socket ${node.path('a.sock')}`,
  );
  await check('b', { name: 'refused' }, 'plugin validation failed with err: it is refused');
  await check('c', { name: '' }, 'plugin validation failed with err: the plugin has no name');
  const long = `"${'x'.repeat(40)}…" has 2000 characters, at most 1024 are allowed`;
  await check('d', { endpoint: 'x'.repeat(2000) }, `plugin validation failed with err: ${long}`);
  assert.deepEqual(node.handler.calls, []);
});

test('a failed registration is retried', async (context) => {
  const node = new TestNode(context);
  node.handler.failures = 1;
  await node.serve('late.sock');
  await node.registry.start();
  await node.handled('+late');
  await node.until(() => node.statuses.length === 2); // the plugin is notified after its registration
  assert.deepEqual(node.statuses, [
    'late: RegisterPlugin error -- plugin registration failed with err: not now',
    'late: registered',
  ]);
});

test('plugins are not deregistered when a kubelet stops, and register with the next one', async (context) => {
  const node = new TestNode(context);
  await node.serve('stays.sock');
  await node.registry.start();
  await node.restart();
  await node.handled('+stays', '+stays');
});
