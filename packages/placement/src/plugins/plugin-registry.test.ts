import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, waitFor, withTimeout } from '@podwright/base';
import { type CriServer, handleService, serveServices } from '@podwright/cri';
import { Registration } from '@podwright/cri/plugin-registration';
import type { Plugin, PluginHandler } from './plugin-handler.ts';
import { PluginRegistry } from './plugin-registry.ts';

type Info = { type?: string; name?: string; endpoint?: string; supportedVersions?: string[] };

/** Takes what is not called `refused`, and notes what it hears. */
class NotingHandler implements PluginHandler {
  readonly heard: string[] = [];
  readonly plugins: Plugin[] = [];
  failures = 0;

  validate({ name }: Plugin): void {
    if (name === 'refused') throw new PodwrightError('invalid_argument', 'it is refused');
  }

  async register(plugin: Plugin): Promise<void> {
    if (this.failures-- > 0) throw new PodwrightError('unavailable', 'not now');
    this.heard.push(`+${plugin.name}`);
    this.plugins.push(plugin);
  }

  async deregister({ name }: Plugin): Promise<void> {
    this.heard.push(`-${name}`);
  }
}

class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'pwk-plugins-'));
  readonly handler = new NotingHandler();
  /** What plugins were told, by their names. */
  readonly told: string[] = [];
  registry = this.#newRegistry();
  readonly #servers: CriServer[] = [];

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

  async serve(socket: string, info: Info | 'hangs' = {}): Promise<CriServer> {
    const name = socket.split('/').at(-1)!.replace('.sock', '');
    const service = handleService(Registration, {
      getInfo: async () =>
        info === 'hangs' ? await new Promise<never>(() => undefined) : { type: 'CSIPlugin', name, ...info },
      notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
        this.told.push(`${name}: ${pluginRegistered ? 'registered' : error}`);
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
      throw new Error(JSON.stringify([this.handler.heard, this.told]), { cause: error });
    });
  }

  hears(...what: string[]): Promise<void> {
    return this.until(() => this.handler.heard.join() === what.join());
  }

  #newRegistry(): PluginRegistry {
    return new PluginRegistry({
      directory: this.directory,
      handlers: { CSIPlugin: this.handler },
      logger: silentLogger,
      periodMs: 3_600_000, // notices of the kernel alone
    });
  }
}

test('sockets that are there, that come, go and come back are registered and deregistered', async (context) => {
  const place = new Place(context);
  await place.serve('first.sock', { endpoint: '/elsewhere.sock', supportedVersions: ['1.0.0'] });
  await place.registry.start();
  assert.deepEqual(place.handler.plugins, [{ name: 'first', endpoint: '/elsewhere.sock', versions: ['1.0.0'] }]);
  const second = await place.serve('second.sock');
  await place.hears('+first', '+second');
  assert.equal(place.handler.plugins[1]!.endpoint, place.path('second.sock'));
  await second.close();
  rmSync(place.path('second.sock'), { force: true });
  await place.hears('+first', '+second', '-second');
  await place.serve('second.sock');
  await place.hears('+first', '+second', '-second', '+second');
  await place.until(() => place.told.length === 3);
});

test('a socket in the place of another one is another plugin', async (context) => {
  const place = new Place(context);
  await place.serve('a.sock');
  await place.registry.start();
  mkdirSync(place.path('.new'));
  await place.serve('.new/b.sock');
  renameSync(place.path('.new/b.sock'), place.path('a.sock'));
  await place.hears('+a', '-a', '+b');
});

test('sockets are found in directories below, old and new, and through links', async (context) => {
  const place = new Place(context);
  mkdirSync(place.path('old/deeper'), { recursive: true });
  await place.serve('old/deeper/a.sock');
  await place.registry.start();
  mkdirSync(place.path('new/deeper'), { recursive: true });
  await place.serve('new/deeper/b.sock');
  await place.hears('+a', '+b');
  mkdirSync(place.path('.hidden'));
  await place.serve('.hidden/c.sock');
  symlinkSync(place.path('.hidden/c.sock'), place.path('link.sock'));
  await place.hears('+a', '+b', '+c');
});

test('what is no socket, is hidden, leads nowhere or round in circles is none of ours', async (context) => {
  const place = new Place(context);
  writeFileSync(place.path('file.sock'), '');
  symlinkSync('nowhere', place.path('broken.sock'));
  symlinkSync('.', place.path('circle'));
  symlinkSync('loop', place.path('loop'));
  await place.serve('.hidden.sock');
  await place.serve('seen.sock');
  await place.registry.start();
  assert.deepEqual(place.handler.heard, ['+seen']);
});

test('a plugin that hangs holds up no other, and a start only for a while', async (context) => {
  const place = new Place(context);
  await place.serve('hangs.sock', 'hangs');
  await place.serve('works.sock');
  await place.registry.start();
  assert.deepEqual(place.handler.heard, ['+works']);
});

test('plugins hear why they are not taken', async (context) => {
  const place = new Place(context);
  const check = async (socket: string, info: Info, error: string) => {
    await place.serve(`${socket}.sock`, info);
    await place.until(() => place.told.includes(`${socket}: RegisterPlugin error -- ${error}`));
  };
  await place.registry.start();
  await check(
    'a',
    { type: 'toString' },
    `no handler registered for plugin type: toString at socket ${place.path('a.sock')}`,
  );
  await check('b', { name: 'refused' }, 'plugin validation failed with err: it is refused');
  await check('c', { name: '' }, 'plugin validation failed with err: the plugin has no name');
  const long = `"${'x'.repeat(40)}…" has 2000 characters, at most 1024 are allowed`;
  await check('d', { endpoint: 'x'.repeat(2000) }, `plugin validation failed with err: ${long}`);
  assert.deepEqual(place.handler.heard, []);
});

test('a plugin that could not be registered is tried again', async (context) => {
  const place = new Place(context);
  place.handler.failures = 1;
  await place.serve('late.sock');
  await place.registry.start();
  await place.hears('+late');
  assert.deepEqual(place.told, [
    'late: RegisterPlugin error -- plugin registration failed with err: not now',
    'late: registered',
  ]);
});

test('plugins stay registered for others when a kubelet ends, and register with the next', async (context) => {
  const place = new Place(context);
  await place.serve('stays.sock');
  await place.registry.start();
  await place.restart();
  await place.hears('+stays', '+stays');
});
