import { type Any, anyUnpack, timestampMs } from '@bufbuild/protobuf/wkt';
import { errorMessage, isAlreadyExists, type Logger, PRIVATE_FILE, sleep } from '@podwright/base';
import { TtrpcServer } from '@podwright/ttrpc';
import { TaskExitSchema, TaskOOMSchema } from './gen/containerd/events/task_pb.js';
import { Events } from './gen/containerd/services/events/ttrpc/v1/events_pb.js';
import { TAKEOVER_LOOK_MS, TAKEOVER_TIMEOUT_MS } from './limits.ts';

/** An event that a shim forwards. `processId` is the exec ID, or the task ID for the task's first process. */
export type ShimEvent =
  | { kind: 'exit'; taskId: string; processId: string; pid: number; exitCode: number; exitedAtMs: number }
  | { kind: 'oom'; taskId: string };

/**
 * The event service to which shims forward their events. While it is not listening, a shim retries for a few seconds and then drops the
 * event.
 */
export class ShimEvents {
  readonly #server: TtrpcServer;
  readonly #logger: Logger;
  readonly #listeners = new Set<(event: ShimEvent) => void>();

  private constructor(logger: Logger) {
    this.#logger = logger;
    this.#server = new TtrpcServer({ logger });
    this.#server.add(Events, {
      forward: async ({ envelope }) => {
        if (envelope?.event !== undefined) this.publish(envelope.topic, envelope.event);
        return {};
      },
    });
  }

  /** Listens on a unix socket that only root can open. */
  static async listen(path: string, logger: Logger): Promise<ShimEvents> {
    const events = new ShimEvents(logger);
    const deadline = Date.now() + TAKEOVER_TIMEOUT_MS;
    for (;;)
      try {
        await events.#server.listen(path, PRIVATE_FILE);
        return events;
      } catch (error) {
        if (!isAlreadyExists(error) || Date.now() > deadline) throw error;
        await sleep(TAKEOVER_LOOK_MS);
      }
  }

  /** Calls the listener for every event from now on. */
  subscribe(listener: (event: ShimEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Decodes an event and calls the listeners. Ignores event types that are not in `ShimEvent`. */
  publish(topic: string, event: Any): void {
    try {
      const known = decodeEvent(event);
      if (known !== undefined) for (const listener of this.#listeners) listener(known);
    } catch (error) {
      this.#logger.warn({ topic, error: errorMessage(error) }, "read a shim's event");
    }
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

function decodeEvent(event: Any): ShimEvent | undefined {
  const oom = anyUnpack(event, TaskOOMSchema);
  if (oom !== undefined) return { kind: 'oom', taskId: oom.containerId };
  const exit = anyUnpack(event, TaskExitSchema);
  if (exit === undefined) return undefined;
  const { containerId: taskId, id: processId, pid, exitStatus: exitCode, exitedAt } = exit;
  const exitedAtMs = exitedAt === undefined ? Date.now() : timestampMs(exitedAt);
  return { kind: 'exit', taskId, processId, pid, exitCode, exitedAtMs };
}
