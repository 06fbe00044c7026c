import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { type DockershimHandle, type DockershimOptions, startDockershim } from '@podwright/dockershim';

/** A dockershim that keeps all its state in a scratch directory, and a client for it. */
export type Dockershim = AsyncDisposable & {
  scratch: string;
  options: DockershimOptions;
  handle: DockershimHandle;
  cri: CriClient;
  /** Restarts the dockershim; pods keep running. */
  restart: () => Promise<void>;
};

/** Returns the options for a dockershim on an Engine, with Docker's built-in networking. The caller owns the scratch directory. */
export function dockershimOptions(scratch: string, dockerSocket: string): DockershimOptions {
  return {
    dockerSocket,
    socket: join(scratch, 'cri.sock'),
    root: join(scratch, 'dockershim'),
    sandboxImage: 'localhost/podwright/pause:1',
    network: {
      plugin: 'none',
      confDir: join(scratch, 'cni'),
      binDirs: ['/usr/lib/cni'],
      cacheDir: join(scratch, 'cni-cache'),
      hairpinMode: 'none',
      nonMasqueradeCidr: '10.0.0.0/8',
      mtu: 0,
    },
    streaming: { address: '127.0.0.1', port: 0 },
    pullProgressDeadlineMs: 60_000,
    logger: silentLogger,
  };
}

/** Starts a dockershim that uses the Engine at this socket. */
export async function openDockershim(
  dockerSocket: string,
  change: (options: DockershimOptions) => DockershimOptions = (options) => options,
): Promise<Dockershim> {
  const scratch = mkdtempSync(join(tmpdir(), 'pwds-'));
  const options = change(dockershimOptions(scratch, dockerSocket));
  const start = async () => {
    const handle = await startDockershim(options);
    return {
      handle,
      cri: await connectCri({ runtimeEndpoint: handle.endpoint, apiVersion: 'v1', logger: silentLogger }),
    };
  };
  const stop = async ({ handle, cri }: Pick<Dockershim, 'handle' | 'cri'>) => {
    cri.close();
    await handle.close();
  };
  const dockershim: Dockershim = {
    ...{ scratch, options, ...(await start()) },
    restart: async () => {
      await stop(dockershim);
      Object.assign(dockershim, await start());
    },
    [Symbol.asyncDispose]: async () => {
      await stop(dockershim);
      await rm(scratch, { recursive: true, force: true });
    },
  };
  return dockershim;
}
