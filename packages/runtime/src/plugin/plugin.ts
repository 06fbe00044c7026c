/**
 * A component of the runtime: a value with a type, an id and requirements. Plugins do not register themselves; the code that builds
 * the list names the implementations. `Types` maps each plugin type to the type of its instances.
 */
export type Plugin<Types, Type extends keyof Types & string> = {
  readonly type: Type;
  /** Unique among the plugins of its type. */
  readonly id: string;
  /** `type/id` for one plugin, or a type for all plugins of that type that have started. */
  readonly requires: readonly Requirement<Types>[];
  /** The plugin's directories below the runtime's state directory, which `removeHostState` removes. */
  readonly stateDirectories?: readonly string[];
  /**
   * Creates the instance. If it throws `failed_precondition` or `unimplemented`, the plugin counts as unavailable on this host or with this
   * configuration, and is skipped; with any other error the plugin has failed.
   */
  init(context: PluginContext<Types>): Types[Type] | Promise<Types[Type]>;
  /** Stops the instance's work in this process. Called once, after all plugins that require it are closed. */
  close?(instance: Types[Type]): void | Promise<void>;
};

/** A plugin of any of the types. */
export type AnyPlugin<Types> = { [Type in keyof Types & string]: Plugin<Types, Type> }[keyof Types & string];

/** `type/id`. */
export type PluginName<Types> = `${keyof Types & string}/${string}`;

export type Requirement<Types> = PluginName<Types> | (keyof Types & string);

/** Gives `init` access to the instances that the plugin requires. */
export type PluginContext<Types> = {
  /** The instance of a required plugin. Throws `internal` for a plugin that is not among the requirements. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type];
  /** Instances of a type by id, in the order of their start. The type must be among the requirements. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]>;
  /** Sets a note for users on how the plugin works on this host (`PluginState.note`). */
  note(text: string): void;
};

/** State of a plugin. `skip`: unavailable on this host; `error`: failed; `note` is the reason. For `ok`, `note` is the plugin's own note. */
export type PluginState = {
  type: string;
  id: string;
  requires: readonly string[];
  state: 'ok' | 'skip' | 'error';
  note: string;
};

export const pluginName = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`;
