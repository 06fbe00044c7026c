import { errorMessage, type Logger, Undo, VERSION } from '@podwright/base';
import { Adaptation, listenForPlugins, startInstalledPlugins } from '@podwright/nri';
import type { NriOptions } from '../options.ts';

/** This container runtime's name, as reported to plugins. */
const RUNTIME_NAME = 'podwright';

/** Starts installed NRI plugins and accepts connections from others. */
export class NriPlugins {
  readonly adaptation: Adaptation;
  readonly #options: NriOptions;
  readonly #logger: Logger;
  readonly #undo = new Undo();

  constructor(options: NriOptions, logger: Logger) {
    const { registrationTimeoutMs, requestTimeoutMs, validator } = options;
    this.#options = options;
    this.#logger = logger;
    this.adaptation = new Adaptation({
      runtime: { name: RUNTIME_NAME, version: VERSION },
      timeouts: { registrationTimeoutMs, requestTimeoutMs },
      ...(validator === undefined ? {} : { validator }),
      logger,
    });
  }

  /**
   * Starts the installed plugins, then accepts connections from others. Calls `attach` first to provide the existing pods. Failures are
   * only logged: pods can run without plugins, and the socket might be in use by another container runtime.
   */
  async start(attach: () => void): Promise<void> {
    const { pluginPath, pluginConfigPath: configPath, socketPath } = this.#options;
    attach();
    const begin = async (what: string, work: () => Promise<() => Promise<void>>) => {
      try {
        this.#undo.add(what, await work());
      } catch (error) {
        this.#logger.warn({ error: errorMessage(error) }, `cannot ${what}`);
      }
    };
    if (pluginPath !== '')
      await begin('start installed NRI plugins', () =>
        startInstalledPlugins(this.adaptation, { pluginPath, configPath }, this.#logger),
      );
    this.#undo.add('stop NRI plugins', () => this.adaptation.stop());
    if (socketPath !== '')
      await begin('accept NRI plugins', () => listenForPlugins(this.adaptation, socketPath, this.#logger));
  }

  /** Closes the socket and all plugins. */
  async close(): Promise<void> {
    await this.#undo.run();
  }
}
