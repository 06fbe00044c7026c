/** Podwright's API server in this process, in a scratch directory, with fault injection and a record of requests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ApiServer, startApiServer } from '@podwright/api-server';
import { createLogger } from '@podwright/base';
import { CertificateAuthority } from '../../packages/api-server/src/certificates/certificate-authority.ts';
import { authorityDirectory } from '../../packages/api-server/src/issue-kubeconfig.ts';
import type { Credential } from './credential.ts';
import { Faults } from './faults/faults.ts';
import { FaultyHandler } from './faults/faulty-handler.ts';
import { RequestRecord } from './faults/request-record.ts';

type Backup = { path: string; revision: number };

export class OwnControlPlane {
  readonly faults = new Faults();
  readonly requests = new RequestRecord();
  readonly authority: CertificateAuthority;
  readonly #directory: string;
  #server: ApiServer | undefined;
  #port = 0;

  private constructor(directory: string, authority: CertificateAuthority) {
    this.#directory = directory;
    this.authority = authority;
  }

  static async start(): Promise<OwnControlPlane> {
    const directory = mkdtempSync(join(tmpdir(), 'pw-api-'));
    const plane = new OwnControlPlane(
      directory,
      await CertificateAuthority.open(authorityDirectory(directory), Date.now),
    );
    await plane.resume();
    return plane;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  get certificateAuthority(): string {
    return this.authority.certificate;
  }

  certificate(commonName: string, organizations: string[]): Credential {
    return { kind: 'certificate', ...this.authority.client({ commonName, organizations }) };
  }

  /** Stops the server and deletes its objects. */
  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.#directory, { recursive: true });
  }

  /** Stops the server until `resume`. Keeps the objects. */
  async pause(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** Restarts the server on the same port. */
  async resume(): Promise<void> {
    this.#server = await startApiServer({
      directory: this.#directory,
      socketPath: join(this.#directory, 'api.sock'),
      listen: { host: '127.0.0.1', port: this.#port },
      logger: createLogger({ level: 'error' }),
      decorate: (handler) => new FaultyHandler(handler, this),
    });
    this.#port = this.#server.port!;
  }

  async backup(): Promise<Backup> {
    const { store } = this.#server!;
    const backup = { path: join(this.#directory, 'backup.db'), revision: store.revision };
    await store.backup(backup.path);
    return backup;
  }

  /** Restores the server's objects and revision from a backup, as if etcd were restored from a snapshot. The server must be paused. */
  async restore({ path, revision }: Backup): Promise<void> {
    const objects = join(this.#directory, 'objects.db');
    await rm(`${objects}-wal`, { force: true });
    await copyFile(path, objects);
    using database = new DatabaseSync(objects);
    database.prepare('UPDATE store SET reserved = ?').run(revision);
  }
}
