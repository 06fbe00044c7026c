import { PodwrightError } from '@podwright/base';
import type { SandboxController } from './sandbox-controller.ts';

/** Which controller serves which runtime handler. The handler '' is the default and always there. */
export class SandboxControllers {
  readonly #byHandler: ReadonlyMap<string, SandboxController>;

  constructor(byHandler: ReadonlyMap<string, SandboxController>) {
    this.#byHandler = byHandler;
  }

  /** An unknown handler is an `invalid_argument` that names those that there are. */
  forHandler(handler: string): SandboxController {
    const controller = this.#byHandler.get(handler);
    if (controller !== undefined) return controller;
    const known = [...this.#byHandler.keys()].map((name) => (name === '' ? '"" (the default)' : name));
    throw new PodwrightError(
      'invalid_argument',
      `no runtime for handler "${handler}" is configured; there are ${known.join(', ')}`,
    );
  }

  handlers(): string[] {
    return [...this.#byHandler.keys()];
  }

  /** Every controller once. */
  all(): SandboxController[] {
    return [...new Set(this.#byHandler.values())];
  }
}
