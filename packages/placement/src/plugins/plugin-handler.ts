/** A plugin as it describes itself (`pluginregistration.PluginInfo`). */
export type Plugin = {
  name: string;
  /** Path of the socket of its services. */
  endpoint: string;
  /** Supported versions, or services with their versions. */
  versions: readonly string[];
};

/** Types of plugins, by upstream's names. */
export type PluginType = 'CSIPlugin' | 'DRAPlugin' | 'DevicePlugin';

/** Handles the plugins of one type. Calls for one plugin run one after another. */
export interface PluginHandler {
  /** Throws if the plugin is invalid; it is then not registered. */
  validate(plugin: Plugin): void;
  /** Registers the plugin. If it rejects, the handler keeps no state of the plugin, and is called again later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** Called after the plugin's socket was removed. */
  deregister(plugin: Plugin): Promise<void>;
}

export type PluginHandlers = Partial<Record<PluginType, PluginHandler>>;
