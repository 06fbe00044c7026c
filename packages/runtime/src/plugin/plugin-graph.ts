import { errorCode, errorMessage, orderGraph, PodwrightError, Undo, type UndoFailure } from '@podwright/base';
import { type AnyPlugin, type PluginContext, type PluginState, pluginName, type Requirement } from './plugin.ts';

type Started = { state: PluginState; instance?: unknown; error?: unknown };

/** Error codes that mean that a plugin is unavailable on this host or with this configuration. */
const UNAVAILABLE_CODES = ['failed_precondition', 'unimplemented'];

/** The container runtime's started plugins, and the states of all plugins, including those that could not be started. */
export class PluginGraph<Types> {
  readonly #started = new Map<string, Started>();
  readonly #undo = new Undo();
  readonly #stateDirectories: readonly string[];

  private constructor(stateDirectories: readonly string[]) {
    this.#stateDirectories = stateDirectories;
  }

  /**
   * Starts plugins one at a time, in dependency order. If a plugin cannot be started, it and the plugins that require it are recorded with
   * the reason. If one of these is `needed`, closes the started plugins and rejects with an error that has the same code. Throws the errors
   * of `orderPlugins` if the list itself is invalid.
   */
  static async start<Types>(
    plugins: readonly AnyPlugin<Types>[],
    { needed }: { needed: readonly Requirement<Types>[] },
  ): Promise<PluginGraph<Types>> {
    const graph = new PluginGraph<Types>(plugins.flatMap(({ stateDirectories = [] }) => stateDirectories));
    try {
      for (const plugin of orderPlugins(plugins)) await graph.#start(plugin);
      for (const requirement of needed) graph.#check(requirement);
      return graph;
    } catch (error) {
      await graph.close();
      throw error;
    }
  }

  /**
   * Returns all plugins' subdirectories of the state directory, including those of failed plugins, which might have worked before a
   * restart.
   */
  stateDirectories(): readonly string[] {
    return this.#stateDirectories;
  }

  /** Returns the states of all plugins, in start order. */
  states(): PluginState[] {
    return [...this.#started.values()].map(({ state }) => state);
  }

  /** Returns a plugin's instance. Throws the plugin's error if the plugin has failed, or `not_found` if there is no such plugin. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type] {
    this.#check(`${type}/${id}`);
    return this.#started.get(`${type}/${id}`)!.instance as Types[Type];
  }

  /** Returns the instances of a type by plugin ID, excluding failed plugins. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]> {
    const working = [...this.#started.values()].filter(({ state }) => state.type === type && state.state === 'ok');
    return new Map(working.map(({ state, instance }) => [state.id, instance as Types[Type]]));
  }

  /** Closes the instances in reverse start order, and returns any failures. */
  close(): Promise<UndoFailure[]> {
    return this.#undo.run();
  }

  async #start(plugin: AnyPlugin<Types>): Promise<void> {
    const { type, id, requires } = plugin;
    const started: Started = { state: { type, id, requires, state: 'ok', note: '' } };
    try {
      for (const requirement of requires) if (requirement.includes('/')) this.#check(requirement);
      const instance = await plugin.init(this.#context(plugin, started.state));
      started.instance = instance;
      const close = plugin.close as ((instance: unknown) => void | Promise<void>) | undefined;
      if (close !== undefined) this.#undo.add(`close plugin ${pluginName(plugin)}`, () => close(instance));
    } catch (error) {
      const state = UNAVAILABLE_CODES.includes(errorCode(error)) ? 'skip' : 'error';
      started.error = error;
      started.state = { ...started.state, state, note: errorMessage(error) };
    }
    this.#started.set(pluginName(plugin), started);
  }

  /** Throws if the required plugin has not started. If the requirement is a type, at least one plugin of that type must have started. */
  #check(requirement: string): void {
    const found = meetsRequirement(this.states(), requirement);
    if (found.some(({ state }) => state === 'ok')) return;
    if (found.length === 0) throw new PodwrightError('not_found', `plugin ${requirement}: there is none`);
    const message = found.map((state) => `plugin ${pluginName(state)}: ${state.note}`).join('; ');
    const { error } = this.#started.get(pluginName(found[0]!))!;
    throw new PodwrightError(errorCode(error), message, { cause: error });
  }

  #context({ type, id, requires }: AnyPlugin<Types>, state: PluginState): PluginContext<Types> {
    const checkRequired = (used: Requirement<Types>) => {
      if (requires.includes(used)) return;
      throw new PodwrightError('internal', `plugin ${type}/${id} uses ${used} without requiring it`);
    };
    return {
      get: (usedType, usedId) => {
        checkRequired(`${usedType}/${usedId}`);
        return this.get(usedType, usedId);
      },
      all: (usedType) => {
        checkRequired(usedType);
        return this.all(usedType);
      },
      note: (text) => {
        state.note = text;
      },
    };
  }
}

/** The fields that determine the plugin order. */
export type Requiring = { readonly type: string; readonly id: string; readonly requires: readonly string[] };

/** Sorts plugins so that each one comes after all plugins that it requires. Throws the errors of `orderGraph`. */
export function orderPlugins<P extends Requiring>(plugins: readonly P[]): P[] {
  return orderGraph(plugins, {
    attempt: 'order plugins',
    nameOf: pluginName,
    requirementsOf: ({ requires }) => requires,
    meeting: (requirement) => meetsRequirement(plugins, requirement),
    isOptional: (requirement) => !requirement.includes('/'),
  });
}

/** Returns the plugins that match a requirement: one for `type/id`; for a type, all of its plugins, possibly none. */
export function meetsRequirement<P extends Requiring>(plugins: readonly P[], requirement: string): P[] {
  return plugins.filter((plugin) => plugin.type === requirement || pluginName(plugin) === requirement);
}
