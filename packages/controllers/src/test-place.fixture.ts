import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { EVENTS, PODS } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import type { Controller } from './framework/controller.ts';
import { startControllers } from './start-controllers.ts';

/** Controllers running against a fake API server. */
export class TestPlace implements AsyncDisposable {
  readonly client = new FakeKubeClient();
  readonly #controllers;

  constructor(...controllers: Controller[]) {
    this.#controllers = startControllers({
      client: this.client,
      controllers: Object.fromEntries(controllers.map((one, index) => [`tested-${index}`, one])),
      logger: silentLogger,
    });
  }

  async pods(): Promise<Pod[]> {
    return (await this.client.list<Pod>(PODS, {})).items;
  }

  events(reason: string): string[] {
    return this.client.callsOf({ verb: 'create', plural: EVENTS.plural }).flatMap(({ body }) => {
      const event = body as { reason: string; message: string };
      return event.reason === reason ? [event.message] : [];
    });
  }

  async until(check: () => unknown): Promise<void> {
    using signal = withTimeout(undefined, 20_000, `wait for ${check}`);
    await waitFor(async () => (await check()) || undefined, { intervalMs: 5, signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controllers.stop();
  }
}
