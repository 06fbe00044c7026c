/**
 * A component of the container runtime, with a type, an ID and requirements. Plugins do not register themselves; the implementations are
 * named by the code that builds the list of plugins. `Types` maps each plugin type to the type of its instances.
 */
export type Plugin<Types, Type extends keyof Types & string> = {
  readonly type: Type;
  /** Unique among the plugins of its type. */
  readonly id: string;
  /** `type/id` for a single plugin, or a type for all started plugins of that type. */
  readonly requires: readonly Requirement<Types>[];
  /** The plugin's directories below the container runtime's state directory, to be removed by `removeHostState`. */
  readonly stateDirectories?: readonly string[];
  /**
   * Creates the instance. If this throws `failed_precondition` or `unimplemented`, the plugin is considered unavailable on this host or
   * with this configuration, and is skipped. With any other error, the plugin has failed.
   */
  init(context: PluginContext<Types>): Types[Type] | Promise<Types[Type]>;
  /** Stops the instance's work in this process. Called once, after all plugins that require this plugin have been closed. */
  close?(instance: Types[Type]): void | Promise<void>;
};

/** A plugin of any type. */
export type AnyPlugin<Types> = { [Type in keyof Types & string]: Plugin<Types, Type> }[keyof Types & string];

/** A plugin name of the form `type/id`. */
export type PluginName<Types> = `${keyof Types & string}/${string}`;

export type Requirement<Types> = PluginName<Types> | (keyof Types & string);

/** Gives `init` access to the instances of the plugins that the plugin requires. */
export type PluginContext<Types> = {
  /** Returns the instance of a required plugin. Throws `internal` if the plugin is not among the requirements. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type];
  /** Returns the instances of a type by plugin ID, in start order. The type must be among the requirements. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]>;
  /** Sets a note for users about how the plugin works on this host (`PluginState.note`). */
  note(text: string): void;
};

/**
 * State of a plugin. For `skip` (unavailable on this host) and `error` (failed), `note` is the reason. For `ok`, it is the plugin's own
 * note.
 */
export type PluginState = {
  type: string;
  id: string;
  requires: readonly string[];
  state: 'ok' | 'skip' | 'error';
  note: string;
};

export const pluginName = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`;
