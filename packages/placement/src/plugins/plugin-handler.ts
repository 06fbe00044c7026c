/** A plugin as it describes itself (`pluginregistration.PluginInfo`). */
export type Plugin = {
  name: string;
  /** Path of the socket on which the plugin serves its services. */
  endpoint: string;
  /** Supported versions, or service names with their versions. */
  versions: readonly string[];
};

/** Plugin types, named as in upstream. */
export type PluginType = 'CSIPlugin' | 'DRAPlugin' | 'DevicePlugin';

/** Handles the plugins of one type. Calls for the same plugin run one at a time. */
export interface PluginHandler {
  /** Throws if the plugin is invalid, in which case it is not registered. */
  validate(plugin: Plugin): void;
  /** Registers the plugin. If it rejects, the handler must keep no state of the plugin; it is called again later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** Called after the plugin's socket has been removed. */
  deregister(plugin: Plugin): Promise<void>;
}

export type PluginHandlers = Partial<Record<PluginType, PluginHandler>>;
