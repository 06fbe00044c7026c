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

/** Which containers: all of these labels, given as `key=value` or `key`; a list of ids or names is any of them. */
export type ContainerFilter = { label?: string[]; id?: string[]; name?: string[]; status?: string[] };

/** Which of a log: `tail` is a number of lines or `all`, `since` seconds since 1970. */
type EngineLogQuery = {
  stdout: boolean;
  stderr: boolean;
  follow: boolean;
  timestamps: boolean;
  tail: number | 'all';
  since?: number;
};

const created = z.object({ Id: z.string(), Warnings: z.array(z.string()).nullish() });

/** Containers of the Engine, by id or name. Errors: `not_found`, conflicts (`isConflict`), those of `EngineHttp`. */
export class EngineContainers {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  /** Creates a container and gives its id. A name that another container has is a conflict. */
  async create(name: string, spec: ContainerSpec, signal?: AbortSignal): Promise<string> {
    const call = { what: `create container ${name}`, method: 'POST', path: '/containers/create' } as const;
    const answer = await this.#http.json({ ...call, query: { name }, body: spec, signal }, (value) =>
      created.parse(value),
    );
    return answer.Id;
  }

  /** Starts a container; one that runs already is as asked for. */
  async start(id: string, signal?: AbortSignal): Promise<void> {
    await this.#http.done({ what: `start container ${id}`, method: 'POST', path: pathOf(id, 'start'), signal });
  }

  /** Asks the container to end and kills it after the grace, in whole seconds; one that has ended is as asked for. */
  async stop(id: string, graceSeconds: number, signal?: AbortSignal): Promise<void> {
    await this.#http.done({
      ...{ what: `stop container ${id}`, method: 'POST', path: pathOf(id, 'stop'), query: { t: graceSeconds }, signal },
      timeoutMs: (graceSeconds + STOP_MARGIN_SECONDS) * 1000,
    });
  }

  /** Sends a signal, such as `SIGKILL`; a container that does not run is a conflict. */
  async kill(id: string, name: string, signal?: AbortSignal): Promise<void> {
    const query = { signal: name };
    await this.#http.done({ what: `kill container ${id}`, method: 'POST', path: pathOf(id, 'kill'), query, signal });
  }

  /** Removes a container with its anonymous volumes, and ends it if it runs. */
  async remove(id: string, signal?: AbortSignal): Promise<void> {
    const query = { v: true, force: true };
    await this.#http.done({ what: `remove container ${id}`, method: 'DELETE', path: pathOf(id), query, signal });
  }

  async inspect(id: string, signal?: AbortSignal): Promise<ContainerInspection> {
    const call = { what: `inspect container ${id}`, method: 'GET', path: pathOf(id, 'json'), signal } as const;
    return await this.#http.json(call, (value) => containerInspectionSchema.parse(value));
  }

  /** All containers of the filter, also those that do not run. */
  async list(filter: ContainerFilter, signal?: AbortSignal): Promise<ContainerSummary[]> {
    const query = { all: true, filters: JSON.stringify(filter) };
    const call = { what: 'list containers', method: 'GET', path: '/containers/json', query, signal } as const;
    return await this.#http.json(call, (value) => containerListSchema.parse(value));
  }

  /** Changes limits of a container that runs or will. */
  async update(id: string, resources: ContainerResources, signal?: AbortSignal): Promise<void> {
    const call = { what: `update container ${id}`, method: 'POST', path: pathOf(id, 'update') } as const;
    await this.#http.done({ ...call, body: resources, signal });
  }

  /** A container's log, in frames unless it has a terminal. The reader that leaves ends it. */
  async logs(id: string, query: EngineLogQuery, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const path = pathOf(id, 'logs');
    return await this.#http.stream({ what: `read the log of container ${id}`, method: 'GET', path, query, signal });
  }

  /** Gives the container's terminal a size, in characters. */
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

/** What the Engine may take beyond a stop's grace. */
const STOP_MARGIN_SECONDS = 120;

/** Throws `not_found` for what can be neither an id nor a name: the Engine would take `..` for a step up in the path. */
function pathOf(id: string, verb?: string): string {
  if (!/^[a-zA-Z0-9][\w.-]*$/.test(id)) throw new PodwrightError('not_found', `no such container: ${id}`);
  const path = `/containers/${encodeURIComponent(id)}`;
  return verb === undefined ? path : `${path}/${verb}`;
}
