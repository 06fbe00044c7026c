/** Which webhooks or policies run again after others have changed the object (apiserver, plugin/webhook/mutating/reinvocationcontext.go). */
import { isDeepStrictEqual } from 'node:util';
import type { AdmissionAttributes, Reinvocation } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';

/** The calls of one plugin for one write. Hooks are identified by keys. */
export class InvokedHooks {
  readonly #reinvocation: Reinvocation | undefined;
  /** The hooks with the policy `IfNeeded` that have run since the last change. */
  #invoked = new Set<string>();
  readonly #due = new Set<string>();
  #output: ApiObject | undefined;

  private constructor(reinvocation: Reinvocation | undefined) {
    this.#reinvocation = reinvocation;
  }

  /** Returns the calls that a plugin has made for this write. Called when the plugin begins. */
  static of({ reinvocation, object }: AdmissionAttributes, plugin: string): InvokedHooks {
    const known = reinvocation?.memory.get(plugin);
    const hooks = known instanceof InvokedHooks ? known : new InvokedHooks(reinvocation);
    reinvocation?.memory.set(plugin, hooks);
    if (hooks.isSecond && !isDeepStrictEqual(hooks.#output, object)) hooks.#makeDue();
    return hooks;
  }

  get isSecond(): boolean {
    return this.#reinvocation?.isSecond ?? false;
  }

  /** Whether a hook must be called: each one the first time, and the second time those that have not seen a change. */
  isDue(key: string): boolean {
    return !this.isSecond || this.#due.has(key);
  }

  /** A hook was called. `isRepeatable`: whether it may be called again. Called after `changed`. */
  invoked(key: string, isRepeatable: boolean): void {
    if (isRepeatable) this.#invoked.add(key);
  }

  /** A hook has changed the object. */
  changed(): void {
    this.#makeDue();
    if (this.#reinvocation !== undefined) this.#reinvocation.isRequested = true;
  }

  /** The plugin ends, and the object is now this one. */
  ended(object: ApiObject | undefined): void {
    this.#output = object;
  }

  #makeDue(): void {
    for (const key of this.#invoked) this.#due.add(key);
    this.#invoked = new Set();
  }
}
