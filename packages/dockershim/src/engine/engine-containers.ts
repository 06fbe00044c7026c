import { PodwrightError } from '@podwright/base';
import * as z from 'zod';
import type { EngineHttp } from './engine-http.ts';
import {
  type ContainerInspection,
  type ContainerResources,
  type ContainerSpec,
  type ContainerSummary,
  containerInspectionSchema,
  containerListSchema,
} from './engine-types.ts';

/**
 * Container list filter. A container must have all of the labels (`key=value` or `key`), and match one of the IDs, one of the names, and
 * one of the statuses.
 */
export type ContainerFilter = { label?: string[]; id?: string[]; name?: string[]; status?: string[] };

/** Selects part of a log. `tail` is a number of lines or `all`; `since` is in seconds since the epoch. */
type EngineLogQuery = {
  stdout: boolean;
  stderr: boolean;
  follow: boolean;
  timestamps: boolean;
  tail: number | 'all';
  since?: number;
};

const created = z.object({ Id: z.string(), Warnings: z.array(z.string()).nullish() });

/** The Engine's containers, by ID or name. Calls throw `not_found`, conflicts (`isConflict`) and the errors of `EngineHttp`. */
export class EngineContainers {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  /** Creates a container and returns its ID. Fails with a conflict if the name is taken. */
  async create(name: string, spec: ContainerSpec, signal?: AbortSignal): Promise<string> {
    const call = { what: `create container ${name}`, method: 'POST', path: '/containers/create' } as const;
    const answer = await this.#http.json({ ...call, query: { name }, body: spec, signal }, (value) =>
      created.parse(value),
    );
    return answer.Id;
  }

  /** Starts a container. Succeeds if it is already running. */
  async start(id: string, signal?: AbortSignal): Promise<void> {
    await this.#http.done({ what: `start container ${id}`, method: 'POST', path: pathOf(id, 'start'), signal });
  }

  /** Sends the stop signal and, after the grace period (in whole seconds), kills the container. Succeeds if it has already exited. */
  async stop(id: string, graceSeconds: number, signal?: AbortSignal): Promise<void> {
    await this.#http.done({
      ...{ what: `stop container ${id}`, method: 'POST', path: pathOf(id, 'stop'), query: { t: graceSeconds }, signal },
      timeoutMs: (graceSeconds + STOP_MARGIN_SECONDS) * 1000,
    });
  }

  /** Sends a signal, such as `SIGKILL`. Fails with a conflict if the container is not running. */
  async kill(id: string, name: string, signal?: AbortSignal): Promise<void> {
    const query = { signal: name };
    await this.#http.done({ what: `kill container ${id}`, method: 'POST', path: pathOf(id, 'kill'), query, signal });
  }

  /** Removes a container and its anonymous volumes, killing it if it is running. */
  async remove(id: string, signal?: AbortSignal): Promise<void> {
    const query = { v: true, force: true };
    await this.#http.done({ what: `remove container ${id}`, method: 'DELETE', path: pathOf(id), query, signal });
  }

  async inspect(id: string, signal?: AbortSignal): Promise<ContainerInspection> {
    const call = { what: `inspect container ${id}`, method: 'GET', path: pathOf(id, 'json'), signal } as const;
    return await this.#http.json(call, (value) => containerInspectionSchema.parse(value));
  }

  /** Returns all containers that match the filter, running or not. */
  async list(filter: ContainerFilter, signal?: AbortSignal): Promise<ContainerSummary[]> {
    const query = { all: true, filters: JSON.stringify(filter) };
    const call = { what: 'list containers', method: 'GET', path: '/containers/json', query, signal } as const;
    return await this.#http.json(call, (value) => containerListSchema.parse(value));
  }

  /** Changes a container's limits, whether it is running or not. */
  async update(id: string, resources: ContainerResources, signal?: AbortSignal): Promise<void> {
    const call = { what: `update container ${id}`, method: 'POST', path: pathOf(id, 'update') } as const;
    await this.#http.done({ ...call, body: resources, signal });
  }

  /** Returns a container's log, framed unless the container has a terminal. Breaking out of the iteration closes the stream. */
  async logs(id: string, query: EngineLogQuery, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const path = pathOf(id, 'logs');
    return await this.#http.stream({ what: `read the log of container ${id}`, method: 'GET', path, query, signal });
  }

  /** Sets the size of the container's terminal, in characters. */
  async resize(id: string, size: { columns: number; rows: number }, signal?: AbortSignal): Promise<void> {
    const query = { w: size.columns, h: size.rows };
    const call = {
      what: `resize the terminal of container ${id}`,
      method: 'POST',
      path: pathOf(id, 'resize'),
    } as const;
    await this.#http.done({ ...call, query, changesNothing: true, signal });
  }
}

/** Extra time for the Engine to kill a container after the stop grace period. */
const STOP_MARGIN_SECONDS = 120;

/**
 * Returns the path of a container request. Throws `not_found` for text that is neither an ID nor a name, such as `..`, which would resolve
 * to a different path.
 */
function pathOf(id: string, verb?: string): string {
  if (!/^[a-zA-Z0-9][\w.-]*$/.test(id)) throw new PodwrightError('not_found', `no such container: ${id}`);
  const path = `/containers/${encodeURIComponent(id)}`;
  return verb === undefined ? path : `${path}/${verb}`;
}
