/** A plugin's description of itself (`pluginregistration.PluginInfo`). */
export type Plugin = {
  name: string;
  /** Path of the socket that serves the plugin's services. */
  endpoint: string;
  /** Supported versions, or names of services with their versions. */
  versions: readonly string[];
};

/** Types of plugins, with upstream's names. */
export type PluginType = 'CSIPlugin' | 'DRAPlugin' | 'DevicePlugin';

/** Handles the plugins of one type. Calls for one plugin run one after another. */
export interface PluginHandler {
  /** Throws if the plugin is invalid. The plugin is then not registered. */
  validate(plugin: Plugin): void;
  /** Registers the plugin. If it rejects, the handler must keep no state of the plugin; it is called again later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** Called after the plugin's socket has been removed. */
  deregister(plugin: Plugin): Promise<void>;
}

export type PluginHandlers = Partial<Record<PluginType, PluginHandler>>;
