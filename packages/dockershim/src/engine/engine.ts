import { PodwrightError } from '@podwright/base';
import { EngineContainers } from './engine-containers.ts';
import { EngineExec } from './engine-exec.ts';
import { EngineHttp } from './engine-http.ts';
import { type EngineInfo, type EngineVersion, engineInfoSchema, engineVersionSchema } from './engine-types.ts';

/** The version of the API that we speak, of Engine 20.10 (December 2020). Later Engines speak it too, up to where they say so. */
const API_VERSION = '1.41';

/** A Docker Engine. */
export class Engine {
  readonly http: EngineHttp;
  readonly containers: EngineContainers;
  readonly exec: EngineExec;

  constructor(http: EngineHttp) {
    this.http = http;
    this.containers = new EngineContainers(http);
    this.exec = new EngineExec(http);
  }

  async version(signal?: AbortSignal): Promise<EngineVersion> {
    return await askVersion(this.http, signal);
  }

  async info(signal?: AbortSignal): Promise<EngineInfo> {
    const call = { what: 'ask the Docker Engine about itself', method: 'GET', path: '/info', signal } as const;
    return await this.http.json(call, (value) => engineInfoSchema.parse(value));
  }

  close(): void {
    this.http.close();
  }
}

/**
 * Connects to the Engine on a unix socket, in the version that both speak. Errors: `unavailable` (nothing answers there),
 * `failed_precondition` (it is too old).
 */
export async function connectEngine(socketPath: string, signal?: AbortSignal): Promise<Engine> {
  const unversioned = new EngineHttp(socketPath);
  const version = await askVersion(unversioned, signal).finally(() => unversioned.close());
  return new Engine(new EngineHttp(socketPath, spokenVersion(version)));
}

/** The version to speak: 1.41, or the least that a later Engine still has. */
export function spokenVersion({ Version, ApiVersion, MinAPIVersion = API_VERSION }: EngineVersion): string {
  if (compareVersions(ApiVersion, API_VERSION) < 0) {
    throw new PodwrightError(
      'failed_precondition',
      `Docker Engine ${Version} speaks API ${ApiVersion}; ${API_VERSION} is needed: install Docker Engine 20.10 or later`,
    );
  }
  return compareVersions(MinAPIVersion, API_VERSION) > 0 ? MinAPIVersion : API_VERSION;
}

function compareVersions(one: string, other: string): number {
  const [major = 0, minor = 0] = one.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
}

async function askVersion(http: EngineHttp, signal?: AbortSignal): Promise<EngineVersion> {
  const call = { what: 'ask the Docker Engine for its version', method: 'GET', path: '/version', signal } as const;
  return await http.json(call, (value) => engineVersionSchema.parse(value));
}
