import { PodwrightError } from '@podwright/base';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController } from './sandbox-controller.ts';

export type SandboxControllersOptions = {
  /**
   * All controllers, including those not used by any handler, because they might have sandboxes from before the restart. Names must be
   * unique.
   */
  controllers: SandboxController[];
  /** Controller names by runtime handler. The default handler '' is required. */
  handlers: ReadonlyMap<string, string>;
  /** Configured runtime handlers that cannot be used on this host, and why. */
  unavailable?: ReadonlyMap<string, string>;
};

/** Finds the controller for new sandboxes of a runtime handler, and the controller that created an existing sandbox. */
export class SandboxControllers {
  readonly #byName: ReadonlyMap<string, SandboxController>;
  readonly #byHandler: ReadonlyMap<string, SandboxController>;
  readonly #unavailable: ReadonlyMap<string, string>;

  /** Combines the controllers. Throws `invalid_argument` if a handler's controller is not among them. */
  constructor({ controllers, handlers, unavailable = new Map() }: SandboxControllersOptions) {
    this.#byName = new Map(controllers.map((controller) => [controller.name, controller]));
    this.#byHandler = new Map([...handlers].map(([handler, name]) => [handler, this.#named(handler, name)]));
    this.#unavailable = unavailable;
  }

  /**
   * Returns the controller for a runtime handler's new sandboxes. Throws `invalid_argument`, listing the known handlers, if the handler is
   * unknown, and `failed_precondition`, with the reason, if it cannot be used on this host.
   */
  forHandler(handler: string): SandboxController {
    const controller = this.#byHandler.get(handler);
    if (controller !== undefined) return controller;
    const reason = this.#unavailable.get(handler);
    if (reason !== undefined)
      throw new PodwrightError('failed_precondition', `runtime handler "${handler}" cannot be used here: ${reason}`);
    const known = [...this.#byHandler.keys()].map((name) => (name === '' ? '"" (the default)' : name));
    throw new PodwrightError(
      'invalid_argument',
      `no runtime for handler "${handler}" is configured; there are ${known.join(', ')}`,
    );
  }

  /**
   * Returns the controller that created a sandbox. It is independent of the currently configured handlers, because the same controller must
   * stop and remove the sandbox. Throws `failed_precondition` if the controller is no longer configured.
   */
  of(record: Pick<SandboxRecord, 'id' | 'controller' | 'config'>): SandboxController {
    const found = this.find(record);
    if (found !== undefined) return found;
    const { id, controller } = record;
    throw new PodwrightError(
      'failed_precondition',
      `find the sandbox controller of ${id}: "${controller}" created it, and is no longer configured; configure it again`,
    );
  }

  /** Like `of`, but returns undefined if the controller is no longer configured. */
  find({ controller, config }: Pick<SandboxRecord, 'controller' | 'config'>): SandboxController | undefined {
    if (controller !== undefined) return this.#byName.get(controller);
    // records from earlier versions do not name a controller, so use the runtime handler's
    return this.#byHandler.get(config.runtimeHandler) ?? this.#byHandler.get('');
  }

  handlers(): string[] {
    return [...this.#byHandler.keys()];
  }

  /** Returns all controllers, without duplicates. */
  all(): SandboxController[] {
    return [...this.#byName.values()];
  }

  #named(handler: string, name: string): SandboxController {
    const controller = this.#byName.get(name);
    if (controller !== undefined) return controller;
    throw new PodwrightError(
      'invalid_argument',
      `use sandbox controller "${name}" for handler "${handler}": there are ${[...this.#byName.keys()].join(', ')}`,
    );
  }
}
