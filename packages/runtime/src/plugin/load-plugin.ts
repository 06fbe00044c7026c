import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  errorMessage,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  raceAbort,
  withTimeout,
} from '@podwright/base';
import type { PluginOptions, RuntimeOptions } from '../options.ts';
import { PLUGIN_INIT_TIMEOUT_MS, PLUGIN_LOAD_TIMEOUT_MS } from '../time-limits.ts';
import type { Plugin } from './plugin.ts';
import type { RuntimePlugin, RuntimePluginTypes } from './runtime-plugins.ts';
import {
  PLUGIN_API_VERSION,
  type SettingsIssue,
  THIRD_PARTY_TYPES,
  type ThirdPartyPlugin,
  type ThirdPartyType,
} from './third-party.ts';

/** Name of the parent of the third-party plugins' directories, in both the root and the state directory. */
const PLUGINS_DIRECTORY = 'plugins';

/**
 * Loads the configured third-party plugins into the plugin graph. Throws `invalid_argument`, as for any configuration error, if a module
 * does not exist or is not a plugin, or if its schema rejects the settings.
 */
export function loadPlugins({ plugins = [], root, state, logger }: RuntimeOptions): Promise<RuntimePlugin[]> {
  return Promise.all(
    plugins.map(async (options) => {
      try {
        const { plugin, settings } = await bounded(loadPlugin(options), PLUGIN_LOAD_TIMEOUT_MS, 'load its module');
        const directories = {
          root: join(root, PLUGINS_DIRECTORY, options.id),
          state: join(state, PLUGINS_DIRECTORY, options.id),
        };
        const context = { id: options.id, settings, ...directories, logger: logger.child({ plugin: options.id }) };
        return graphPlugin(plugin, context) as RuntimePlugin;
      } catch (error) {
        const where = `load plugin ${options.id} of ${options.from}`;
        throw new PodwrightError('invalid_argument', `${where}: ${errorMessage(error).split('\nRequire stack')[0]}`, {
          cause: error,
        });
      }
    }),
  );
}

/** Limits the wait for third-party code. The code itself cannot be stopped and may keep running. */
async function bounded<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  using deadline = withTimeout(undefined, timeoutMs, what);
  return await raceAbort(work, deadline);
}

async function loadPlugin(options: PluginOptions): Promise<{ plugin: ThirdPartyPlugin; settings: unknown }> {
  const plugin = checkPlugin(await importPlugin(options));
  return { plugin, settings: await checkSettings(plugin, options.settings) };
}

/** Imports a plugin. A relative path or a package is resolved from the configuration file that lists it. */
async function importPlugin({ package: specifier, from }: PluginOptions): Promise<unknown> {
  const path = createRequire(from).resolve(specifier);
  const module = (await import(pathToFileURL(path).href)) as { default?: unknown };
  return module.default;
}

function checkPlugin(value: unknown): ThirdPartyPlugin {
  if (typeof value !== 'object' || value === null) throw new Error('its module has no plugin as its default export');
  const { apiVersion, type, init } = value as Partial<ThirdPartyPlugin>;
  if (apiVersion !== PLUGIN_API_VERSION) {
    const versions = `it is for version ${apiVersion} of the plugin API, and this Podwright has ${PLUGIN_API_VERSION}`;
    throw new Error(`${versions}; use a plugin for that version`);
  }
  if (!THIRD_PARTY_TYPES.includes(type as ThirdPartyType))
    throw new Error(`its type is ${JSON.stringify(type)}; it must be one of ${THIRD_PARTY_TYPES.join(', ')}`);
  if (typeof init !== 'function') throw new Error('it has no function init');
  return value as ThirdPartyPlugin;
}

async function checkSettings({ settings: schema }: ThirdPartyPlugin, settings: unknown): Promise<unknown> {
  if (schema === undefined) {
    const keys = Object.keys(settings as object);
    if (keys.length > 0) throw new Error(`settings.${keys[0]}: it takes no settings`);
    return {};
  }
  const result = await schema['~standard'].validate(settings);
  if (result.issues === undefined) return result.value;
  throw new Error(result.issues.map(issueMessage).join('; '));
}

function issueMessage({ path = [], message }: SettingsIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return `${['settings', ...keys].join('.')}: ${message}`;
}

type PluginDependencies = { id: string; settings: unknown; root: string; state: string; logger: Logger };

function graphPlugin<Type extends ThirdPartyType>(
  plugin: ThirdPartyPlugin<unknown, Type>,
  dependencies: PluginDependencies,
): Plugin<RuntimePluginTypes, Type> {
  const { id, root, state } = dependencies;
  return {
    type: plugin.type,
    id,
    requires: [],
    stateDirectories: [PLUGINS_DIRECTORY],
    async init({ note }) {
      for (const directory of [root, state]) makePrivateDirectory(directory);
      const starting = Promise.resolve(plugin.init({ ...dependencies, note }));
      const instance = await bounded(starting, PLUGIN_INIT_TIMEOUT_MS, `start plugin ${id}`);
      checkInstance(plugin.type, id, instance);
      return instance;
    },
    close: (instance) => plugin.close?.(instance),
  };
}

/** The methods required of instances of each plugin type, for checking plugins written in plain JavaScript. */
const METHODS: { [Type in ThirdPartyType]: (keyof RuntimePluginTypes[Type])[] } = {
  snapshotter: [
    ...(['prepare', 'view', 'commit', 'mounts', 'stat', 'usage', 'remove', 'list'] as const),
    ...(['layerDirectory', 'unpackTarget', 'close'] as const),
  ],
  'sandbox-controller': [
    ...(['create', 'start', 'setAddresses', 'environment', 'sharedPidNamespace', 'status', 'onLost'] as const),
    ...(['stop', 'remove', 'list', 'netnsPath'] as const),
  ],
  'task-runtime': [
    ...(['create', 'start', 'kill', 'state', 'onExit', 'delete', 'execSync', 'exec', 'attach', 'reopenLog'] as const),
    ...(['update', 'list', 'close'] as const),
  ],
};

function checkInstance(type: ThirdPartyType, id: string, instance: unknown): void {
  if (typeof instance !== 'object' || instance === null) throw new Error('its init returned no instance');
  const members = instance as Record<string, unknown>;
  if (members.name !== id)
    throw new Error(`its name is ${JSON.stringify(members.name)}; it must be the configured id, "${id}"`);
  const missing = METHODS[type].filter((method) => typeof members[method] !== 'function');
  if (missing.length > 0) throw new Error(`it lacks methods of a ${type}: ${missing.join(', ')}`);
}
