import { type PluginHandlers, type RunningPlugin, runPlugin } from '@podwright/nri';
import type { RuntimeOptions } from '@podwright/runtime';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { nriOptions } from './nri-options.fixture.ts';

/** Keeps a container running until it is stopped. */
export const SLEEPS = 'trap exit TERM; sleep 1000 & wait';

/** Fields of a CRI message. */
type Fields = Record<string, unknown>;

/** Returns a runtime with NRI and runc, along with helpers for plugins, pods and containers. */
export function nriUnderTest(overrides: Partial<RuntimeOptions> = {}) {
  const runtime = new RuntimeUnderTest();
  const { place } = runtime;
  const nri = nriOptions(place);
  const start = async () => void (await runtime.start({ nri, ociRuntime: 'runc', ...overrides }));

  const withPlugin = async <T>(
    handlers: PluginHandlers,
    work: (plugin: RunningPlugin) => Promise<T>,
    { index = '10' } = {},
  ): Promise<T> => {
    const ready = Promise.withResolvers<void>();
    const synchronize: PluginHandlers['synchronize'] = (pods, containers) => {
      ready.resolve();
      return handlers.synchronize?.(pods, containers) ?? [];
    };
    const options = { name: 'test', index, socket: nri.socketPath };
    const plugin = await runPlugin({ ...options, handlers: { ...handlers, synchronize } });
    try {
      await ready.promise;
      return await work(plugin);
    } finally {
      plugin.close();
    }
  };

  const runPod = async (name: string): Promise<string> =>
    (await runtime.cri.runtime.runPodSandbox({ config: podOf(place, name) })).podSandboxId;

  /** Creates a container. `fields`: additional configuration fields; those in `linux` are added to the default ones. */
  const create = async (podSandboxId: string, name: string, script = SLEEPS, fields: Fields = {}): Promise<string> => {
    const config = containerOf(runtime.image, name, script);
    const changed = { ...config, ...fields, linux: { ...config.linux, ...(fields.linux as Fields | undefined) } };
    return (await runtime.cri.runtime.createContainer({ podSandboxId, config: changed as never })).containerId;
  };

  const output = async (containerId: string, script: string): Promise<string> => {
    const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
    return Buffer.from(stdout).toString().trim();
  };

  return { runtime, nri, start, end: () => runtime.end(), withPlugin, runPod, create, output };
}
