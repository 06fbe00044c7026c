/**
 * What a runtime is put together from, as values: a list of plugins, each with a type, an id and what it requires. Nothing
 * registers itself; the code that composes the list names the implementations. `Types` says what the plugins of each type give.
 */
export type Plugin<Types, Type extends keyof Types & string> = {
  readonly type: Type;
  /** Unique among the plugins of its type. */
  readonly id: string;
  /** `type/id` of one plugin, or a type alone for all plugins of it that work here. */
  readonly requires: readonly Requirement<Types>[];
  /** Directories of its own below the runtime's state directory, which are removed with what the runtime made on the host. */
  readonly stateDirectories?: readonly string[];
  /**
   * Makes the instance. `failed_precondition` and `unimplemented` say that this host or this configuration cannot have
   * it: then it is skipped. Every other error is one.
   */
  init(context: PluginContext<Types>): Types[Type] | Promise<Types[Type]>;
  /** Ends what the instance does in this process; called once, after everything that required it was closed. */
  close?(instance: Types[Type]): void | Promise<void>;
};

/** A plugin of any of the types. */
export type AnyPlugin<Types> = { [Type in keyof Types & string]: Plugin<Types, Type> }[keyof Types & string];

/** `type/id`. */
export type PluginName<Types> = `${keyof Types & string}/${string}`;

export type Requirement<Types> = PluginName<Types> | (keyof Types & string);

/** What `init` may use: the instances that the plugin requires. */
export type PluginContext<Types> = {
  /** The instance of a required plugin; one that was not required is an `internal` error. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type];
  /** Instances by id, in the order in which they were started, of a type that is required as a whole. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]>;
  /** Notes, for people, how the plugin works on this host. */
  note(text: string): void;
};

/** How a plugin got on: `skip` cannot be had here, `error` failed; `note` tells why, and may tell how for `ok`. */
export type PluginState = {
  type: string;
  id: string;
  requires: readonly string[];
  state: 'ok' | 'skip' | 'error';
  note: string;
};

/** `type/id`, as people read it. */
export const pluginName = ({ type, id }: { type: string; id: string }): string => `${type}/${id}`;
