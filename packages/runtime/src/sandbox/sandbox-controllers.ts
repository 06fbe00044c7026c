import { PodwrightError } from '@podwright/base';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController } from './sandbox-controller.ts';

export type SandboxControllersOptions = {
  /** Every controller there is, also those that no handler has: earlier sandboxes may be theirs. Names are unique. */
  controllers: SandboxController[];
  /** Name of the controller by runtime handler. The handler '' is the default and must be there. */
  handlers: ReadonlyMap<string, string>;
  /** Handlers that are configured and cannot be had on this host, with the reason. */
  unavailable?: ReadonlyMap<string, string>;
};

/** Which controller makes the sandboxes of which runtime handler, and which one made a sandbox that is there. */
export class SandboxControllers {
  readonly #byName: ReadonlyMap<string, SandboxController>;
  readonly #byHandler: ReadonlyMap<string, SandboxController>;
  readonly #unavailable: ReadonlyMap<string, string>;

  /** A handler with a controller that is not there is an `invalid_argument`. */
  constructor({ controllers, handlers, unavailable = new Map() }: SandboxControllersOptions) {
    this.#byName = new Map(controllers.map((controller) => [controller.name, controller]));
    this.#byHandler = new Map([...handlers].map(([handler, name]) => [handler, this.#named(handler, name)]));
    this.#unavailable = unavailable;
  }

  /**
   * The controller for new sandboxes. An unknown handler is an `invalid_argument` that names those that there are, one
   * that cannot be had here a `failed_precondition` with the reason.
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
   * The controller that made a sandbox, whatever handlers are configured by now: it must be stopped and removed by the same.
   * One that is not there any more is a `failed_precondition`.
   */
  of(record: Pick<SandboxRecord, 'id' | 'controller' | 'config'>): SandboxController {
    const found = this.find(record);
    if (found !== undefined) return found;
    const { id, controller } = record;
    throw new PodwrightError(
      'failed_precondition',
      `find the sandbox controller of ${id}: "${controller}" made it, and is not configured any more; configure it again`,
    );
  }

  /** As `of`; undefined if it is not there any more. */
  find({ controller, config }: Pick<SandboxRecord, 'controller' | 'config'>): SandboxController | undefined {
    if (controller !== undefined) return this.#byName.get(controller);
    // records of earlier versions name none
    return this.#byHandler.get(config.runtimeHandler) ?? this.#byHandler.get('');
  }

  handlers(): string[] {
    return [...this.#byHandler.keys()];
  }

  /** Every controller once. */
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
