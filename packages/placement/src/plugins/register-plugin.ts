import { errorMessage, PodwrightError } from '@podwright/base';
import { asRpcError, type ConnectedService, connectService } from '@podwright/grpc';
import { type PluginInfo, Registration } from '../plugin-registration-api.ts';
import { MAX_PLUGIN_ANSWER_BYTES } from './limits.ts';
import type { Plugin, PluginHandler, PluginHandlers } from './plugin-handler.ts';

/** Maximum length of plugin names, versions and endpoints. */
const MAX_PLUGIN_TEXT_LENGTH = 1024;

const PLUGIN_NOTIFY_TIMEOUT_MS = 5000;

/** Timeout of the plugin's GetInfo, as in upstream. `PLUGIN_NOTIFY_TIMEOUT_MS` is that of NotifyRegistrationStatus. */
const PLUGIN_INFO_TIMEOUT_MS = 1000;

export type RegisteredPlugin = { plugin: Plugin; handler: PluginHandler };

type Client = ConnectedService<typeof Registration>;

/**
 * Tries once to register the plugin behind a socket: gets its description, calls its handler, and reports the result to the plugin. On
 * failure, keeps no state about the plugin and rejects with upstream's message.
 */
export async function registerPlugin(
  socketPath: string,
  handlers: PluginHandlers,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  const client = connectService(Registration, socketPath, { maxReceiveBytes: MAX_PLUGIN_ANSWER_BYTES });
  try {
    const { plugin, handler } = await introduce(client, { socketPath, handlers, signal });
    try {
      await handler.register(plugin, signal);
    } catch (error) {
      return await refuse(
        client,
        `RegisterPlugin error -- plugin registration failed with err: ${errorMessage(error)}`,
      );
    }
    try {
      await notify(client, { pluginRegistered: true, error: '' });
    } catch (error) {
      await handler.deregister(plugin);
      throw failure(`failed to send registration status at socket ${socketPath}, err: ${errorMessage(error)}`);
    }
    return { plugin, handler };
  } finally {
    client.close();
  }
}

type Introduction = { socketPath: string; handlers: PluginHandlers; signal: AbortSignal };

async function introduce(client: Client, { socketPath, handlers, signal }: Introduction): Promise<RegisteredPlugin> {
  const info = await client.getInfo({}, { signal, timeoutMs: PLUGIN_INFO_TIMEOUT_MS }).catch((error: unknown) => {
    const why = errorMessage(asRpcError(error));
    throw failure(`failed to get plugin info using RPC GetInfo at socket ${socketPath}, err: ${why}`);
  });
  const handler = handlerOf(info, handlers);
  if (handler === undefined) {
    const type = info.type.slice(0, MAX_PLUGIN_TEXT_LENGTH);
    return refuse(
      client,
      `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${socketPath}`,
    );
  }
  const plugin = { name: info.name, endpoint: info.endpoint || socketPath, versions: info.supportedVersions };
  try {
    checkTexts(info);
    handler.validate(plugin);
  } catch (error) {
    return await refuse(client, `RegisterPlugin error -- plugin validation failed with err: ${errorMessage(error)}`);
  }
  return { plugin, handler };
}

function handlerOf({ type }: PluginInfo, handlers: PluginHandlers): PluginHandler | undefined {
  return Object.hasOwn(handlers, type) ? handlers[type as keyof PluginHandlers] : undefined;
}

/** Limits the length of the plugin's strings, which end up in logs and paths. This is just a precaution: only root can register plugins. */
function checkTexts({ name, endpoint, supportedVersions }: PluginInfo): void {
  for (const text of [name, endpoint, ...supportedVersions])
    if (text.length > MAX_PLUGIN_TEXT_LENGTH)
      throw new PodwrightError(
        'invalid_argument',
        `"${text.slice(0, 40)}…" has ${text.length} characters, at most ${MAX_PLUGIN_TEXT_LENGTH} are allowed`,
      );
  if (name === '') throw new PodwrightError('invalid_argument', 'the plugin has no name');
}

/** Reports the error to the plugin and rejects with it. */
async function refuse(client: Client, error: string): Promise<never> {
  try {
    await notify(client, { pluginRegistered: false, error });
  } catch (notifyError) {
    throw new PodwrightError('failed_precondition', `${error}: ${errorMessage(asRpcError(notifyError))}`);
  }
  throw new PodwrightError('failed_precondition', error);
}

async function notify(client: Client, status: { pluginRegistered: boolean; error: string }): Promise<void> {
  await client.notifyRegistrationStatus(status, { timeoutMs: PLUGIN_NOTIFY_TIMEOUT_MS });
}

function failure(text: string): PodwrightError {
  return new PodwrightError('failed_precondition', `RegisterPlugin error -- ${text}`);
}
