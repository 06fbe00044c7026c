import { type TtrpcClient, TtrpcConnection } from '@podwright/ttrpc';
import { Sandbox } from './gen/containerd/runtime/sandbox/v1/sandbox_pb.js';
import { Task } from './gen/containerd/task/v2/shim_pb.js';
import { type ShimEndpoint, socketPath } from './shim-endpoint.ts';

/** A connection to a running shim. Closing the connection does not stop the shim. */
export class Shim {
  readonly endpoint: ShimEndpoint;
  readonly tasks: TtrpcClient<typeof Task>;
  /** Calls fail with `unimplemented` if the shim does not serve the Sandbox API. */
  readonly sandbox: TtrpcClient<typeof Sandbox>;
  readonly #connection: TtrpcConnection;

  private constructor(endpoint: ShimEndpoint, connection: TtrpcConnection) {
    this.endpoint = endpoint;
    this.#connection = connection;
    this.tasks = connection.client(Task, { typeName: `containerd.task.v${endpoint.version}.Task` });
    this.sandbox = connection.client(Sandbox);
  }

  /** Connects to a shim. Rejects with `unavailable` if no shim is listening on the endpoint. */
  static async connect(endpoint: ShimEndpoint, signal: AbortSignal): Promise<Shim> {
    return new Shim(endpoint, await TtrpcConnection.connect(socketPath(endpoint.address), signal));
  }

  /** Resolves when the connection is closed, for example because the shim has exited. */
  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  close(): void {
    this.#connection.close();
  }
}
