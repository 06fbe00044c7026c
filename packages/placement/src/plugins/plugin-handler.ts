/** Who a plugin says that it is (`pluginregistration.PluginInfo`). */
export type Plugin = {
  name: string;
  /** Path of the socket of its services. */
  endpoint: string;
  /** What it says that it supports: versions, or services with their versions. */
  versions: readonly string[];
};

/** The types of plugins that register, in upstream's words. */
export type PluginType = 'CSIPlugin' | 'DRAPlugin' | 'DevicePlugin';

/** What takes the plugins of one type. The calls for one plugin come one after the other. */
export interface PluginHandler {
  /** Throws what is wrong with a plugin; it is not registered then. */
  validate(plugin: Plugin): void;
  /** Takes the plugin; if it rejects, nothing is kept of it, and it is tried again later. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  /** Its socket has gone. */
  deregister(plugin: Plugin): Promise<void>;
}

export type PluginHandlers = Partial<Record<PluginType, PluginHandler>>;
