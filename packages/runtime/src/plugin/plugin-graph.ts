import { errorCode, errorMessage, PodwrightError, Undo, type UndoFailure } from '@podwright/base';
import { meetsRequirement, orderPlugins } from './order-plugins.ts';
import { type AnyPlugin, type PluginContext, type PluginState, pluginName, type Requirement } from './plugin.ts';

type Started = { state: PluginState; instance?: unknown; error?: unknown };

/** The classes of errors that mean: not on this host, or not as it is configured. */
const CANNOT_BE_HAD = ['failed_precondition', 'unimplemented'];

/** Plugins that were started, and how each got on. */
export class PluginGraph<Types> {
  readonly #started = new Map<string, Started>();
  readonly #undo = new Undo();
  readonly #stateDirectories: readonly string[];

  private constructor(stateDirectories: readonly string[]) {
    this.#stateDirectories = stateDirectories;
  }

  /**
   * Starts plugins one after the other, each after what it requires. One that cannot be started is recorded with its reason,
   * and so is what requires it. Only if it is `needed` does all fail, with the class of its error, and what was
   * started is closed again. Errors of the list itself: see `orderPlugins`.
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

  /** Directories of all plugins below the state directory, also of those that do not work: they may have before. */
  stateDirectories(): readonly string[] {
    return this.#stateDirectories;
  }

  /** How every plugin got on, in the order of their start. */
  states(): PluginState[] {
    return [...this.#started.values()].map(({ state }) => state);
  }

  /** The instance of a plugin. Throws the error of one that does not work; `not_found` if there is none. */
  get<Type extends keyof Types & string>(type: Type, id: string): Types[Type] {
    this.#check(`${type}/${id}`);
    return this.#started.get(`${type}/${id}`)!.instance as Types[Type];
  }

  /** Instances of a type by id, of the plugins that work. */
  all<Type extends keyof Types & string>(type: Type): ReadonlyMap<string, Types[Type]> {
    const working = [...this.#started.values()].filter(({ state }) => state.type === type && state.state === 'ok');
    return new Map(working.map(({ state, instance }) => [state.id, instance as Types[Type]]));
  }

  /** Closes the instances, the last one first; returns the failures of those that could not be closed. */
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
      const state = CANNOT_BE_HAD.includes(errorCode(error)) ? 'skip' : 'error';
      started.error = error;
      started.state = { ...started.state, state, note: errorMessage(error) };
    }
    this.#started.set(pluginName(plugin), started);
  }

  /** Throws unless the plugin works; for a type: unless one plugin of it works. */
  #check(requirement: string): void {
    const found = meetsRequirement(this.states(), requirement);
    if (found.some(({ state }) => state === 'ok')) return;
    if (found.length === 0) throw new PodwrightError('not_found', `plugin ${requirement}: there is none`);
    const message = found.map((state) => `plugin ${pluginName(state)}: ${state.note}`).join('; ');
    const { error } = this.#started.get(pluginName(found[0]!))!;
    throw new PodwrightError(errorCode(error), message, { cause: error });
  }

  #context({ type, id, requires }: AnyPlugin<Types>, state: PluginState): PluginContext<Types> {
    const checkRequired = (wanted: Requirement<Types>) => {
      if (requires.includes(wanted)) return;
      throw new PodwrightError('internal', `plugin ${type}/${id} uses ${wanted} without requiring it`);
    };
    return {
      get: (wantedType, wantedId) => {
        checkRequired(`${wantedType}/${wantedId}`);
        return this.get(wantedType, wantedId);
      },
      all: (wantedType) => {
        checkRequired(wantedType);
        return this.all(wantedType);
      },
      note: (text) => {
        state.note = text;
      },
    };
  }
}
