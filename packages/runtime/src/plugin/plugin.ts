/**
 * A component of the container runtime, with a type, an ID and requirements. Plugins do not register themselves; the code that builds the
 * list of plugins names the implementations. `Types` maps each plugin type to the type of its instances.
 */
export type Plugin<Types, Type extends keyof Types & string> = {
  readonly type: Type;
  /** ID of the plugin, unique among the plugins of its type. */
  readonly id: string;
  /** What the plugin requires: `type/id` for a single plugin, or a type for all started plugins of that type. */
  readonly requires: readonly Requirement<Types>[];
  /** The plugin's subdirectories of the container runtime's state directory, to be removed by `removeHostState`. */
  readonly stateDirectories?: readonly string[];
  /**
   * Creates the instance. `failed_precondition` and `unimplemented` mean that the plugin is unavailable on this host or with this
   * configuration, so it is skipped. Any other error means that the plugin has failed.
   */
  init(context: PluginContext<Types>): Types[Type] | Promise<Types[Type]>;
  /** Stops the instance's work in this process. Called once, after closing all plugins that require this one. */
  close?(instance: Types[Type]): void | Promise<void>;
};

/** A plugin of any type. */
export type AnyPlugin<Types> = { [Type in keyof Types & string]: Plugin<Types, Type> }[keyof Types & string];

/** A plugin name of the form `type/id`. */
export type PluginName<Types> = `${keyof Types & string}/${string}`;

export type Requirement<Types> = PluginName<Types> | (keyof Types & string);

/** Gives `init` access to the instances of required plugins. */
export type PluginContext<Types> = {
  /** Returns the instance of a required plugin. Throws `internal` if this plugin does not require it. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type];
  /** Returns the instances of a type by plugin ID, in start order. The type must be among the requirements. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]>;
  /** Sets a user-facing note about how the plugin works on this host (`PluginState.note`). */
  note(text: string): void;
};

/**
 * State of a plugin. `note` is the reason for `skip` (unavailable on this host) or `error` (failed), and the plugin's own note for `ok`.
 */
export type PluginState = {
  type: string;
  id: string;
  requires: readonly string[];
  state: 'ok' | 'skip' | 'error';
  note: string;
};

export const pluginName = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`;
