import { background, type Logger } from '@podwright/base';
import { ApiEventSink, Informers, type KubeClient } from '@podwright/kube-client';
import type { Controller } from './framework/controller.ts';
import { SharedObjects } from './framework/shared-objects.ts';

export type ControllersOptions = {
  client: KubeClient;
  /** A separate client for events, with its own rate limits. Default: `client`. */
  eventClient?: KubeClient;
  /** The controllers to run, keyed by the names used in messages. */
  controllers: Readonly<Record<string, Controller>>;
  logger: Logger;
  /** Unix time in milliseconds. Default: the system clock. */
  now?: () => number;
};

export type RunningControllers = {
  /** Stops the controllers. Resolves when their last calls have ended. */
  stop(): Promise<void>;
};

/** Starts controllers that act on the objects of an API server. They wait until the server is available. */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { client, eventClient = client, controllers, logger, now = Date.now } = options;
  const stopping = new AbortController();
  const objects = new SharedObjects(new Informers(client));
  const sink = new ApiEventSink({ client: eventClient, logger });
  const events = (component: string) => sink.recorder({ component });
  const parts = { client, objects, events, logger, now, signal: stopping.signal };
  const running = Object.entries(controllers).map(([name, run]) => {
    const ended = run(parts);
    background(logger, `the ${name} controller failed`, ended);
    return ended;
  });
  return {
    stop: async () => {
      stopping.abort();
      objects.stop();
      await Promise.allSettled(running);
      sink.stop();
    },
  };
}
