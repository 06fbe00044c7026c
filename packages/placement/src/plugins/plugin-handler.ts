/** A plugin's self-description (`pluginregistration.PluginInfo`). */
export type Plugin = {
  name: string;
  /** Path of the socket that serves the plugin's services. */
  endpoint: string;
  /** Supported versions, or versioned service names. */
  versions: readonly string[];
};

/** Plugin types, named as in upstream. */
export type PluginType = 'CSIPlugin' | 'DRAPlugin' | 'DevicePlugin';

/** Handles the plugins of one type. Calls for the same plugin run one at a time. */
export interface PluginHandler {
  /** Throws if the plugin is invalid and must not be registered. */
  validate(plugin: Plugin): void;
  /** Registers the plugin. If it rejects, the handler must not keep any state about the plugin; registration is retried later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** Called after the plugin's socket has been removed. */
  deregister(plugin: Plugin): Promise<void>;
}

export type PluginHandlers = Partial<Record<PluginType, PluginHandler>>;
