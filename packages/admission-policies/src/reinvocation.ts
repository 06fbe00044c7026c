/**
 * Decides which mutating webhooks or policies are reinvoked (apiserver, plugin/webhook/mutating/reinvocationcontext.go): those with
 * `reinvocationPolicy: IfNeeded`, if the object has changed since they ran.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionAttributes, Reinvocation } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

/** The webhooks or policies (hooks) that a plugin has invoked for one write, by key. */
export class InvokedHooks {
  readonly #reinvocation: Reinvocation | undefined;
  /** Hooks with `reinvocationPolicy: IfNeeded` that have run since a hook last changed the object. */
  #invoked = new Set<string>();
  /** Hooks with `reinvocationPolicy: IfNeeded` that must run again, because a later hook has changed the object. */
  readonly #due = new Set<string>();
  /** The object returned by the plugin's first run. */
  #output: ApiObject | undefined;

  private constructor(reinvocation: Reinvocation | undefined) {
    this.#reinvocation = reinvocation;
  }

  /** Returns the hooks that a plugin has invoked so far for this write. Called when the plugin starts, once or twice per write. */
  static of({ reinvocation, object }: AdmissionAttributes, plugin: string): InvokedHooks {
    const known = reinvocation?.memory.get(plugin);
    const hooks = known instanceof InvokedHooks ? known : new InvokedHooks(reinvocation);
    reinvocation?.memory.set(plugin, hooks);
    if (hooks.isSecond && !isDeepStrictEqual(hooks.#output, object)) hooks.#makeDue();
    return hooks;
  }

  /** Whether this is the plugin's second run for this write. */
  get isSecond(): boolean {
    return this.#reinvocation?.isSecond ?? false;
  }

  /** Whether to invoke a hook: always on the first run, but on the second only if the object has changed since the hook ran. */
  isDue(key: string): boolean {
    return !this.isSecond || this.#due.has(key);
  }

  /**
   * Must be called after each hook, and after `changed` if the hook changed the object. `isRepeatable`: whether the hook has `IfNeeded`.
   */
  invoked(key: string, isRepeatable: boolean): void {
    if (isRepeatable) this.#invoked.add(key);
  }

  /** Must be called if a hook changed the object: the earlier hooks must run again, and so must all plugins. */
  changed(): void {
    this.#makeDue();
    if (this.#reinvocation !== undefined) this.#reinvocation.isRequested = true;
  }

  /** Must be called when the plugin finishes, with the object it returns. */
  ended(object: ApiObject | undefined): void {
    this.#output = object;
  }

  #makeDue(): void {
    for (const key of this.#invoked) this.#due.add(key);
    this.#invoked = new Set();
  }
}
