import { PodwrightError } from '@podwright/base';
import { VERSION_TIMEOUT_MS } from '../limits.ts';
import { ContainerLists } from './container-lists.ts';
import { EngineArchives } from './engine-archives.ts';
import { EngineContainers } from './engine-containers.ts';
import { EngineExec } from './engine-exec.ts';
import { EngineHttp } from './engine-http.ts';
import { EngineImages } from './engine-images.ts';
import { type EngineInfo, type EngineVersion, engineInfoSchema, engineVersionSchema } from './engine-types.ts';

/** Preferred API version, introduced by Engine 20.10 (December 2020). */
const API_VERSION = '1.41';

/** A Docker Engine. */
export class Engine {
  readonly http: EngineHttp;
  readonly containers: EngineContainers;
  readonly lists: ContainerLists;
  readonly exec: EngineExec;
  readonly archives: EngineArchives;
  readonly images: EngineImages;

  constructor(http: EngineHttp) {
    this.http = http;
    this.containers = new EngineContainers(http);
    this.lists = new ContainerLists(http, this.containers);
    this.exec = new EngineExec(http);
    this.archives = new EngineArchives(http);
    this.images = new EngineImages(http);
  }

  /**
   * Requests the Engine's version and negotiates the API version of later calls. Throws `unavailable` if the Engine does not respond, and
   * `failed_precondition` if it is too old.
   */
  async version(signal?: AbortSignal): Promise<EngineVersion> {
    const what = 'ask the Docker Engine for its version';
    const bounds = { signal, timeoutMs: VERSION_TIMEOUT_MS };
    const call = { what, method: 'GET', path: '/version', isUnversioned: true, ...bounds } as const;
    const version = await this.http.json(call, (value) => engineVersionSchema.parse(value));
    this.http.speak(spokenVersion(version));
    return version;
  }

  async info(signal?: AbortSignal): Promise<EngineInfo> {
    const call = { what: 'ask the Docker Engine about itself', method: 'GET', path: '/info', signal } as const;
    return await this.http.json(call, (value) => engineInfoSchema.parse(value));
  }

  close(): void {
    this.lists.close();
    this.http.close();
  }
}

/**
 * Returns the Engine on a Unix socket, which need not exist yet. The caller must first call `version`, which negotiates the API version.
 */
export function engineAt(socketPath: string): Engine {
  return new Engine(new EngineHttp(socketPath, API_VERSION));
}

/**
 * Connects to the Engine on a Unix socket and negotiates the API version. Throws `unavailable` if the Engine does not respond, and
 * `failed_precondition` if it is too old.
 */
export async function connectEngine(socketPath: string, signal?: AbortSignal): Promise<Engine> {
  const engine = engineAt(socketPath);
  try {
    await engine.version(signal);
    return engine;
  } catch (error) {
    engine.close();
    throw error;
  }
}

/** Returns the API version to use: 1.41, or the Engine's minimum version if it no longer supports 1.41. */
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
