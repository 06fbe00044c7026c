import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';
import { type ImageSize, makeImage } from './made-image.ts';
import { until } from './until.ts';

/** The images in the registry, by their approximate size. */
const SIZES = {
  '5 MB': { layers: 1, filesPerLayer: 20 },
  '300 MB': { layers: 4, filesPerLayer: 300 },
} satisfies Record<string, ImageSize>;

/** A registry on loopback, started and filled on demand. */
export class Registry {
  readonly #directory: string;
  readonly #port = 20_000 + (process.pid % 10_000);
  readonly #references = new Map<string, Promise<string>>();
  #daemon: ChildProcess | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the reference of an image of this size. Pushes the image to the registry first if it is not there yet. */
  image(size: keyof typeof SIZES): Promise<string> {
    const reference = this.#references.get(size) ?? this.#push(size);
    this.#references.set(size, reference);
    return reference;
  }

  stop(): void {
    this.#daemon?.kill();
  }

  async #push(size: keyof typeof SIZES): Promise<string> {
    await this.#start();
    const layout = join(this.#directory, `layout-${parseInt(size, 10)}`);
    const reference = `127.0.0.1:${this.#port}/bench/image-${parseInt(size, 10)}:1`;
    await makeImage(layout, SIZES[size]);
    await runChecked('skopeo', ['copy', '-q', '--dest-tls-verify=false', `oci:${layout}`, `docker://${reference}`]);
    return reference;
  }

  async #start(): Promise<void> {
    if (this.#daemon !== undefined) return;
    mkdirSync(this.#directory);
    const config = join(this.#directory, 'config.yml');
    const [storage, http] = [`{filesystem: {rootdirectory: ${this.#directory}}}`, `{addr: "127.0.0.1:${this.#port}"}`];
    writeFileSync(config, `version: 0.1\nlog: {level: error}\nstorage: ${storage}\nhttp: ${http}\n`);
    this.#daemon = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
    const url = `http://127.0.0.1:${this.#port}/v2/`;
    await until(async () => (await fetch(url).catch(() => undefined))?.ok || undefined);
  }
}
