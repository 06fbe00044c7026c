import { isDeepStrictEqual } from 'node:util';
import { errorMessage, type Logger, silentLogger } from '@podwright/base';
import type { Authorization } from '../client/caller.ts';
import type { ClusterAccess } from '../client/create-kube-client.ts';
import { REREAD_MS } from '../limits.ts';
import type { TlsOptions } from '../transport/http-exchange.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { type ParsedKubeconfig, parseKubeconfig } from './parse-kubeconfig.ts';
import { readSmallFile, readTls } from './read-material.ts';
import { TokenFile } from './token-file.ts';

export type ReadKubeconfigOptions = {
  /** Overrides `current-context`. */
  context?: string;
  log?: Logger;
  /** How often the files are checked for changes. Default: 60 seconds. */
  rereadMs?: number;
};

/**
 * One context of a kubeconfig, for `createKubeClient`. Follows changes to the kubeconfig and the files it refers to: new connections use
 * new certificates, keys and CAs, and new calls use new tokens and passwords. Changes to the server, the token file or the credential
 * plugin are logged but take effect only after a restart.
 */
export interface Kubeconfig extends ClusterAccess {
  readonly path: string;
  readonly context: string;
  readonly namespace: string;
  readonly server: string;
  tls(): Promise<TlsOptions>;
  readonly authorization: Authorization;
  follow(reconnect: () => void): Disposable;
}

/**
 * Reads and validates a kubeconfig and the files it refers to. Rejects with `invalid_argument`, naming the file, the field and the problem.
 */
export async function readKubeconfig(path: string, options: ReadKubeconfigOptions = {}): Promise<Kubeconfig> {
  const parsed = await readParsed(path, options.context);
  await readTls(parsed.cluster, parsed.user);
  const { tokenFile } = parsed.user;
  if (tokenFile !== undefined) await new TokenFile(tokenFile).header();
  return new FollowedKubeconfig(path, parsed, options);
}

/** Returns the fields that take effect only after a restart. */
const lasting = ({ cluster, user }: ParsedKubeconfig): Record<string, unknown> => ({
  server: cluster.server,
  tokenFile: user.tokenFile?.path,
  exec: user.exec,
});

async function readParsed(path: string, context: string | undefined): Promise<ParsedKubeconfig> {
  const text = (await readSmallFile(path, 'kubeconfig: ')).toString('utf8');
  return parseKubeconfig(text, path, context);
}

class FollowedKubeconfig implements Kubeconfig {
  readonly path: string;
  readonly server: string;
  readonly authorization: Authorization;
  readonly #options: ReadKubeconfigOptions;
  readonly #log: Logger;
  readonly #plugin: ExecPlugin | undefined;
  readonly #followers = new Set<() => void>();
  #parsed: ParsedKubeconfig;
  /** The TLS options of the most recent connection. */
  #tls: TlsOptions | undefined;
  #problem = '';

  constructor(path: string, parsed: ParsedKubeconfig, options: ReadKubeconfigOptions) {
    this.path = path;
    this.#parsed = parsed;
    this.#options = options;
    this.#log = options.log ?? silentLogger;
    this.server = parsed.cluster.server;
    const { exec } = parsed.user;
    if (exec !== undefined)
      this.#plugin = new ExecPlugin({
        config: exec,
        cluster: parsed.cluster,
        tls: () => readTls(this.#parsed.cluster, this.#parsed.user),
        onNewCertificate: () => this.#notifyFollowers(),
      });
    this.authorization = this.#makeAuthorization();
  }

  get context(): string {
    return this.#parsed.context;
  }

  get namespace(): string {
    return this.#parsed.namespace;
  }

  /** Reads the TLS options, falling back to the previous ones while a file is invalid. */
  readonly tls = async (): Promise<TlsOptions> => {
    const read = await this.#readTls();
    this.#tls = read;
    const { certificate } = (await this.#plugin?.credential()) ?? {};
    return { ...read, ...certificate };
  };

  readonly follow = (reconnect: () => void): Disposable => {
    this.#followers.add(reconnect);
    const timer = setInterval(() => void this.#reread(), this.#options.rereadMs ?? REREAD_MS);
    timer.unref();
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        this.#followers.delete(reconnect);
      },
    };
  };

  async #reread(): Promise<void> {
    let isParsed = true;
    try {
      const parsed = await readParsed(this.path, this.#options.context);
      this.#noteLasting(parsed);
      this.#parsed = parsed;
    } catch (error) {
      isParsed = false;
      this.#note(error);
    }
    const before = this.#tls;
    const read = await this.#readTls(isParsed).catch(() => before);
    if (before === undefined || JSON.stringify(read) === JSON.stringify(before)) return;
    this.#tls = read;
    this.#log.info({ path: this.path }, 'the certificates of the kubeconfig have changed: reconnecting');
    this.#notifyFollowers();
  }

  /**
   * `isParsed`: whether the kubeconfig has just been parsed without an error, so that no problem remains if its certificate and key files
   * are valid too.
   */
  async #readTls(isParsed = true): Promise<TlsOptions> {
    try {
      const read = await readTls(this.#parsed.cluster, this.#parsed.user);
      if (isParsed) this.#problem = '';
      return read;
    } catch (error) {
      if (this.#tls === undefined) throw error;
      this.#note(error);
      return this.#tls;
    }
  }

  /** Logs a problem, unless it is the same as the last one logged. */
  #note(error: unknown): void {
    const problem = errorMessage(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#log.warn(
      { path: this.path, error: problem },
      'the kubeconfig cannot be read again: the previous one remains in use',
    );
  }

  #noteLasting(parsed: ParsedKubeconfig): void {
    const [before, now] = [lasting(this.#parsed), lasting(parsed)];
    const changed = Object.keys(now).filter((name) => !isDeepStrictEqual(before[name], now[name]));
    if (changed.length > 0)
      this.#log.warn(
        { path: this.path, changed },
        'the kubeconfig has new values for these fields: restart to use them',
      );
  }

  #notifyFollowers(): void {
    for (const reconnect of this.#followers) reconnect();
  }

  /** Chooses credentials in client-go's order: a token file takes precedence over tokens, passwords and credential plugins. */
  #makeAuthorization(): Authorization {
    const { tokenFile } = this.#parsed.user;
    if (tokenFile !== undefined) return new TokenFile(tokenFile);
    return {
      header: async () => {
        const { token, basic } = this.#parsed.user;
        if (token !== undefined) return `Bearer ${token}`;
        if (basic !== undefined)
          return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
        return this.#plugin?.header();
      },
      refused: async (header) => {
        const { token, basic } = this.#parsed.user;
        if (token !== undefined || basic !== undefined) return false;
        return (await this.#plugin?.refused(header)) ?? false;
      },
    };
  }
}
