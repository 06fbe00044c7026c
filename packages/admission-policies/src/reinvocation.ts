/**
 * Decides which mutating webhooks or policies run a second time (apiserver, plugin/webhook/mutating/reinvocationcontext.go): those with
 * `reinvocationPolicy: IfNeeded`, if the object was changed after they ran.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionAttributes, Reinvocation } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

/** The webhooks or policies (hooks) that a plugin has called for one write, by their keys. */
export class InvokedHooks {
  readonly #reinvocation: Reinvocation | undefined;
  /** The hooks with `IfNeeded` that have run since the last change of the object. */
  #invoked = new Set<string>();
  /** The hooks with `IfNeeded` after which the object was changed. They must run again. */
  readonly #due = new Set<string>();
  /** The object when the plugin ended the first time. */
  #output: ApiObject | undefined;

  private constructor(reinvocation: Reinvocation | undefined) {
    this.#reinvocation = reinvocation;
  }

  /** Returns the calls that a plugin has made for this write so far. Called when the plugin begins, once or twice in a write. */
  static of({ reinvocation, object }: AdmissionAttributes, plugin: string): InvokedHooks {
    const known = reinvocation?.memory.get(plugin);
    const hooks = known instanceof InvokedHooks ? known : new InvokedHooks(reinvocation);
    reinvocation?.memory.set(plugin, hooks);
    if (hooks.isSecond && !isDeepStrictEqual(hooks.#output, object)) hooks.#makeDue();
    return hooks;
  }

  /** Whether the plugin runs for the second time in this write. */
  get isSecond(): boolean {
    return this.#reinvocation?.isSecond ?? false;
  }

  /** Whether a hook must be called: the first time all of them, the second time those after which the object was changed. */
  isDue(key: string): boolean {
    return !this.isSecond || this.#due.has(key);
  }

  /** Must be called after each hook, and after `changed` if the hook has changed the object. `isRepeatable`: whether it has `IfNeeded`. */
  invoked(key: string, isRepeatable: boolean): void {
    if (isRepeatable) this.#invoked.add(key);
  }

  /** Must be called if a hook has changed the object: those before it become due, and all plugins run again. */
  changed(): void {
    this.#makeDue();
    if (this.#reinvocation !== undefined) this.#reinvocation.isRequested = true;
  }

  /** Must be called when the plugin ends, with the object that it returns. */
  ended(object: ApiObject | undefined): void {
    this.#output = object;
  }

  #makeDue(): void {
    for (const key of this.#invoked) this.#due.add(key);
    this.#invoked = new Set();
  }
}
